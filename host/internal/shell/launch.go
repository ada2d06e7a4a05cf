package shell

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell/gitevents"
	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// stuck is how long the processes that a command left behind may take to end.
const stuck = 10 * time.Second

// lastingAfter is how long a command runs before it counts as one that others may want to reach.
const lastingAfter = time.Second

// launch is a command that is ready to start: what it may reach, and where its output goes.
type launch struct {
	*command
	held *confinement
	// dir is the session's directory with links resolved.
	dir string
	out *output
}

// newLaunch prepares the start of a command.
func newLaunch(ctx context.Context, c *command) (*launch, error) {
	held, err := confine(ctx, c)
	if err != nil {
		return nil, err
	}
	dir, err := held.beginning(c.scope.Cwd)
	if err != nil {
		held.discard()
		return nil, err
	}
	spool := func() (*os.File, error) { return c.scope.Shell.Spool(c.scope.Call) }
	out := newOutput(c.args.Separate && !c.args.Background, c.setup.MaxOutput, spool)
	return &launch{command: c, held: held, dir: dir, out: out}, nil
}

// beginning resolves links in the session's directory. It refuses a link that leads out of
// the session's directories: an earlier command may have put it there.
func (h *confinement) beginning(cwd string) (string, error) {
	lies, err := h.resolve(cwd)
	if err != nil {
		return cwd, nil //nolint:nilerr // starting the command will say what is wrong with it
	}
	if !inside(lies, h.Working) {
		return "", abi.Errorf(abi.CodeDenied, "the session's directory %s leads to %s now, outside the session's directories, so no command is run there", cwd, lies)
	}
	return lies, nil
}

// forget gives up the output.
func (l *launch) forget() {
	if err := l.out.release(); err != nil {
		l.scope.Call.Logger(l.setup.Logger).Warn("the output of a command was left behind", "error", err)
	}
}

// run is a command that runs.
type run struct {
	*launch
	child
	began time.Time
	git   *gitevents.Watch
	// moved gets a value when a person wants it in the background.
	moved chan struct{}
	// over is closed when it has ended and all output is read. The result is set then.
	over   chan struct{}
	result result
}

// start starts a command that was allowed.
func start(ctx context.Context, c *command) (*run, error) {
	if ctx.Err() != nil {
		return nil, givenUp(ctx)
	}
	l, err := newLaunch(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &run{
		launch: l, began: time.Now(), git: gitevents.Begin(c.known, c.scope.Cwd, l.held.tree()),
		moved: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if r.child, err = l.cold(ctx); err != nil {
		l.forget()
		l.held.discard()
		return nil, err
	}
	go r.attend()
	return r, nil
}

// attend waits for the command's end, reads the rest of its output, and removes everything
// else.
func (r *run) attend() {
	defer close(r.over)
	if r.held.Lasting != nil {
		lasting := time.AfterFunc(lastingAfter, r.held.Lasting)
		defer lasting.Stop()
	}
	<-r.Done()
	select {
	case <-r.Gone():
	case <-time.After(stuck): // whatever it waits for in the system
	}
	r.out.finish()
	took := time.Since(r.began)
	r.result = r.end()
	r.result.began, r.result.took = r.began, took
	r.result.limit, r.result.limitText = r.limit(r.result.status.Limit)
	if r.held.Made != nil {
		r.result.made = joined(r.result.made, r.held.Made())
	}
}

// refused are the hosts that the command was kept from, if it has ended.
func (r *run) refused() []string {
	select {
	case <-r.over:
		return r.result.refused
	default:
		return nil
	}
}

// limit names the limit that ended the command, and describes it.
func (r *run) limit(name string) (_, text string) {
	if name == "" {
		select {
		case <-r.out.full:
			return "output", fmt.Sprintf("it wrote more than %s", sized(r.setup.MaxOutput))
		default:
		}
	}
	return name, limitText(new(r.limits()), name)
}

// limitText describes a limit that ended a command.
func limitText(limits *process.Limits, name string) string {
	switch name {
	case process.LimitMemory:
		return fmt.Sprintf("it took more than %s of memory", sized(limits.Memory))
	case process.LimitProcesses:
		return fmt.Sprintf("it had more than %d processes", limits.Processes)
	case process.LimitCPU:
		return fmt.Sprintf("it took more than %v of processor time", limits.CPU)
	}
	return ""
}

// tellGitEvents tells the session about effects of the command, such as a commit.
func (r *run) tellGitEvents() {
	if r.isPowerShell() {
		return
	}
	const shown = 64 << 10
	head, tail := r.out.all.ends(shown)
	for _, event := range r.git.Events(r.result.status.Code, append(head, tail...)) {
		event.Call = r.scope.Call
		r.scope.Shell.Tell(event)
	}
}
