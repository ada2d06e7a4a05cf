package commands

import (
	"context"
	"net"
	"os"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// Call is what the commands of one call of a tool go by.
type Call struct {
	// Tool is the tool's name, which rules on hosts may be about.
	Tool     string
	Session  Session
	Gate     Gate
	Analyser Analyser
	Audience Audience
	// Memory keeps what walks of the session's directories found.
	Memory *protected.Memory
	// Links are the files with several names that rules are about.
	Links *protected.HardLinks
}

// Session is the session that the call belongs to.
type Session interface {
	// Temp returns the directory that commands have as /tmp.
	Temp() (string, error)
	// Outputs returns the directory for the output of commands.
	Outputs() (string, error)
	// Ended is closed when the session ends.
	Ended() <-chan struct{}
	// Backgrounds reports whether commands may move to the background.
	Backgrounds() bool
	// Staging keeps the changes of commands from the disk; nil if they are made there.
	Staging() Staging
	// Reachable has others of this user reach the network of the session's commands by dial.
	Reachable(dial func(ctx context.Context, port int) (net.Conn, error))
}

// Layer says where the changes of commands in a directory are stored.
type Layer = sandbox.Layer

// Staging keeps the changes of a session's commands from the disk. It is safe for concurrent use.
type Staging interface {
	// Begin returns the layers of directories, none of which is in another one, for a command that
	// is about to use them. Nothing but commands changes the layers before end is called.
	Begin(roots []string) (layers []Layer, end func(), err error)
	// Shows says that commands see tree.
	Shows(tree paths.View)
	// Mounted says that a layer is mounted: from now on its files must be changed through the
	// directory that open opens. The callee closes that directory.
	Mounted(l Layer, open func() (*os.File, error)) error
	// Scan finds out what the call's command has changed since it began.
	Scan(ctx context.Context, began time.Time) error
}

// Gate is what permitted the call.
type Gate interface {
	// Policy returns the session's policy as it now is.
	Policy() *permissions.Policy
	// Approved lists the accesses that a person allowed the call.
	Approved() []permissions.Access
	// MayRead reports whether the call may read a file, without asking anybody.
	MayRead(name string) bool
}

// Analyser finds out what commands would do, as the gate judges them.
type Analyser interface {
	// Place returns where commands of the session begin.
	Place() shell.Place
	// Analyse finds out what a command would do at a place.
	Analyse(text string, at shell.Place) permissions.Command
}

// Audience is told about the commands of the call.
type Audience interface {
	// Offers reports whether the model may call a tool.
	Offers(tool string) bool
	// Remark tells the model something beside the call's result.
	Remark(text string)
	// Tell tells the session's followers about an effect of a command.
	Tell(d capability.GitEvent)
}
