package shell

import (
	"context"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// exitKilled is the exit status of what SIGKILL ended.
const exitKilled = 128 + int(syscall.SIGKILL)

// child is a command that was started.
type child interface {
	// Done is closed when its first process ended, and Gone when nothing is left.
	Done() <-chan struct{}
	Gone() <-chan struct{}
	// Stop asks it to end, and ends it after the time of grace.
	Stop(grace time.Duration)
	// end says how it ended, and removes what was made for it. It is called once, when it is
	// gone or nobody waits any longer.
	end() result
}

// result is how a command ended.
type result struct {
	status process.Status
	// cwd is its last directory; empty is the one where it began, or unknown.
	cwd string
	// interrupted says why its sandbox ended it; empty is that it did not.
	interrupted string
	// denied are the hosts that it asked for and was kept from, and refused those among them
	// that nothing allows.
	denied  []denial
	refused []string
	// limit is the limit that ended it, and limitText describes that.
	limit, limitText string
	// made reports protected files that were made, undone or replaced.
	made string
	// lacks says which of its changes the history does not keep.
	lacks string
	began time.Time
	took  time.Duration
}

// denial is a host that a command was not let through to, and why.
type denial struct{ host, why string }

// outcome is the result as that of a task.
func (r *result) outcome(killed bool) capability.TaskOutcome {
	o := capability.TaskOutcome{Killed: killed, Left: r.status.Left}
	switch {
	case r.status.Err != nil:
		o.Reason = r.status.Err.Error()
		return o
	case r.limit != "":
		o.Reason = r.limitText
	case r.interrupted != "":
		o.Reason = r.interrupted
	case r.status.Signal != 0 && !killed:
		o.Reason = "a signal ended it: " + signalName(r.status.Signal)
	}
	exit := r.status.Code
	o.Exit, o.Note = &exit, joined(r.made, r.lacks)
	return o
}

// movedTo says where a command that began in a directory ended: in one of the working
// directories, or in another one, which is refused. Both are empty if it did not move.
func (r *result) movedTo(from string, held *confinement) (cwd, refused string) {
	if !filepath.IsAbs(r.cwd) {
		return "", ""
	}
	lies, err := held.resolve(r.cwd)
	if err != nil || lies == from || !isDir(held.at(lies)) {
		return "", ""
	}
	if inside(lies, held.Working) {
		return lies, ""
	}
	return "", lies
}

// givenUp is the error of a cancelled call.
func givenUp(ctx context.Context) error {
	return abi.Errorf(abi.CodeOfEnd(ctx), "the command was given up: %w", context.Cause(ctx))
}
