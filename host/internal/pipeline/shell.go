package pipeline

import (
	"context"
	"net"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// newShell is what the capabilities that a call asks for know of commands.
func newShell(g *judging) *commands.Shell {
	return newShellIn(g, commandSession{g.session(), g}, commandCall{g})
}

// newShellIn is newShell with another session and audience.
func newShellIn(g *judging, in commands.Session, audience commands.Audience) *commands.Shell {
	s := g.session()
	return commands.NewShell(s.Host.Commands, commands.Call{
		Tool: g.name(), Session: in, Memory: &s.Walked, Links: &g.links,
		Gate: commandCall{g}, Analyser: commandCall{g}, Audience: audience,
	})
}

// commandCall is what package commands asks of a call.
type commandCall struct{ gate *judging }

var (
	_ commands.Gate     = commandCall{}
	_ commands.Analyser = commandCall{}
	_ commands.Audience = commandCall{}
)

// Policy is the session's policy as it now is.
func (c commandCall) Policy() *permissions.Policy { return c.gate.renew().Policy }

// Approved are the accesses that a person allowed the call.
func (c commandCall) Approved() []permissions.Access { return c.gate.Approvals.Allowed() }

// MayRead reports whether the call may read a file, without asking anybody.
func (c commandCall) MayRead(name string) bool {
	return c.gate.mayTouch(permissions.Access{Kind: permissions.AccessRead, Target: name, Real: name})
}

// Place is where commands of the session begin.
func (c commandCall) Place() shell.Place { return c.gate.place(abi.CapShellRun) }

// Analyse finds out what a command would do at a place.
func (c commandCall) Analyse(text string, at shell.Place) permissions.Command {
	return c.gate.analyse(text, at)
}

// Offers reports whether the model may call a tool.
func (c commandCall) Offers(tool string) bool {
	list, err := c.gate.turn.Catalog().List()
	return err == nil && slices.Contains(list.Ready, tool)
}

// Remark tells the model something beside the call's result.
func (c commandCall) Remark(text string) { c.gate.remark(text) }

// Tell tells the session's followers about an effect of a command: as a part of the call,
// or, where that has ended and the command went on in the background, outside of all turns.
func (c commandCall) Tell(d capability.GitEvent) { c.gate.tell.GitEvent(d) }

// commandSession is what package commands asks of a session.
type commandSession struct {
	*Session
	gate *judging
}

// Temp is the directory that commands have as /tmp.
func (s commandSession) Temp() (string, error) { return s.Storage.Temp() }

// Outputs is the directory for the output of commands.
func (s commandSession) Outputs() (string, error) { return s.Storage.Outputs() }

// Ended is closed when the session ends.
func (s commandSession) Ended() <-chan struct{} { return s.Life.Context.Done() }

// Staging keeps the changes of commands off the disk; nil lets commands change the disk.
func (s commandSession) Staging() commands.Staging {
	if !s.Stage {
		return nil
	}
	return staging{s.Storage.Staging(), s.Rules, s.gate.identity()}
}

// Backgrounds reports whether commands may move to the background.
func (s commandSession) Backgrounds() bool { return s.Life.Backgrounds() }

// Reachable has others of this user reach the network of the session's commands by dial.
func (s commandSession) Reachable(dial func(ctx context.Context, port int) (net.Conn, error)) {
	s.Life.Reachable(dial)
}
