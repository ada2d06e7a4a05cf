package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gitevents"
	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/warm"
)

// stuck is how long what a command left behind may take to go.
const stuck = 10 * time.Second

// launch is a command on its way to run: what it is held to, and what takes its output.
type launch struct {
	*command
	held *confinement
	// dir is the session's directory as it really lies.
	dir string
	out *output
}

// newLaunch finds out what a command needs to run now.
func newLaunch(ctx context.Context, c *command) (*launch, error) {
	held, err := confine(ctx, c)
	if err != nil {
		return nil, err
	}
	dir, err := beginning(c.scope.Cwd, held.Working)
	if err != nil {
		return nil, err
	}
	spool := func() (*os.File, error) { return c.scope.Shell.Spool(c.scope.Call) }
	out := newOutput(c.args.Separate && !c.args.Background, c.setup.MaxOutput, spool)
	return &launch{command: c, held: held, dir: dir, out: out}, nil
}

// beginning is where the session's directory really lies. It refuses one that has become a
// link that leads out of the session's directories: an earlier command may have put one in
// its place.
func beginning(cwd string, working []string) (string, error) {
	lies, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return cwd, nil //nolint:nilerr // whoever starts the command will say what is wrong with it
	}
	if !inside(lies, working) {
		return "", abi.Errorf(abi.CodeDenied, "the session's directory %s leads to %s now, outside the session's directories, so no command is run there", cwd, lies)
	}
	return lies, nil
}

// start runs the command in a shell that is kept ready, if that will do, or in a process of
// its own.
func (l *launch) start(ctx context.Context) (child, error) {
	if l.setup.ready != nil && l.held.readOnly && warm.Fit(l.args.Command) {
		return l.warmly(ctx), nil
	}
	return l.cold(ctx)
}

// forget is one reader of the output less.
func (l *launch) forget() {
	if err := l.out.release(); err != nil {
		l.setup.Logger.Warn("the output of a command was left behind", "call", l.scope.Call.ID, "error", err)
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
	// over is closed when it ended and all of its output is read; result is set then.
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
		launch: l, began: time.Now(), git: gitevents.Begin(c.known, c.scope.Cwd),
		moved: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if r.child, err = l.start(ctx); err != nil {
		l.forget()
		return nil, err
	}
	go r.attend()
	return r, nil
}

// attend waits for the command's end, reads what is left of its output, and removes
// everything but that.
func (r *run) attend() {
	defer close(r.over)
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
		r.result.made = r.held.Made()
	}
}

// limit names the limit that the command was ended for, and says what it is.
func (r *run) limit(name string) (_, text string) {
	limits := &r.setup.Limits
	switch name {
	case process.LimitMemory:
		text = fmt.Sprintf("it took more than %s of memory", sized(limits.Memory))
	case process.LimitProcesses:
		text = fmt.Sprintf("it had more than %d processes", limits.Processes)
	case process.LimitCPU:
		text = fmt.Sprintf("it took more than %v of processor time", limits.CPU)
	case "":
		select {
		case <-r.out.full:
			return "output", fmt.Sprintf("it wrote more than %s", sized(r.setup.MaxOutput))
		default:
		}
	}
	return name, text
}

// tellDeeds tells the session what the command did that others want to know of.
func (r *run) tellDeeds() {
	if r.isPowerShell() {
		return
	}
	const shown = 64 << 10
	head, tail := r.out.all.ends(shown)
	for _, deed := range r.git.Deeds(r.result.status.Code, append(head, tail...)) {
		deed.Call = r.scope.Call
		r.scope.Shell.Tell(deed)
	}
}
