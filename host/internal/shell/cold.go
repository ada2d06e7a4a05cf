package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// coldChild is a command in a process of its own, and perhaps in a sandbox.
type coldChild struct {
	*launch
	*process.Process // nil until it runs
	report           report
	// exec is what to run, and spec the sandbox that it is to run in, if any.
	exec process.Command
	spec sandbox.Spec
	// box is that sandbox; nil is none.
	box *sandbox.Wrapped
	// changed keeps its changes in the history; nil if they are not reported.
	changed capability.CommandWatch
	// late is a process that was given up while it started. It may need what was made for it
	// until it is gone.
	late *process.Process
	// after removes what was made for it, the last first.
	after []func() error

	// lost says why its sandbox ended it.
	lost   atomic.Pointer[string]
	denied denials
}

// cold starts the command in a process of its own.
func (l *launch) cold(ctx context.Context) (child, error) {
	file := filepath.Join(l.held.Temp, "cwd-"+rand.Text())
	c := &coldChild{launch: l, report: report{file: file, at: l.held.at(file), start: l.dir}}
	if err := c.spawn(ctx); err != nil {
		c.out.finish()
		c.discard()
		return nil, err
	}
	return c, nil
}

// spawn prepares the command and starts it.
func (c *coldChild) spawn(ctx context.Context) error {
	if err := c.out.connect(); err != nil {
		return err
	}
	defer c.out.started()
	stdout, stderr := c.out.writers()
	c.exec = process.Command{
		Path: c.program, Args: c.argv(), Env: c.environment(ctx), Dir: c.scope.Cwd,
		Files: []*os.File{nil, stdout, stderr}, Limits: c.limits(),
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	err := c.release(ctx)
	if errors.Is(err, sandbox.ErrChanged) { // perhaps by chance
		err = c.release(ctx)
	}
	return err
}

// release starts the process, and lets the command run once its sandbox, if any, is as it
// was asked for.
func (c *coldChild) release(ctx context.Context) error {
	if !isDir(c.held.at(c.scope.Cwd)) { // in a sandbox something else may lie there
		return c.explain(ctx, fs.ErrNotExist)
	}
	command, release, err := c.wrap(ctx)
	if err != nil {
		return err
	}
	p, err := c.setup.Supervisors.Start(ctx, command)
	if err = sandbox.Judge(err); errors.Is(err, sandbox.ErrChanged) {
		return c.unconfined(err)
	}
	if err != nil {
		c.late = p
		return c.explain(ctx, err)
	}
	if err := release(ctx, p.Pid()); err != nil {
		p.Stop(0)
		if ctx.Err() != nil {
			c.late = p
			return givenUp(ctx)
		}
		<-p.Gone()
		return c.unconfined(err)
	}
	if err := c.tell(); err != nil { //nolint:contextcheck // what it keeps lasts as long as the command
		p.Stop(0)
		<-p.Gone()
		return err
	}
	c.Process = p
	c.watch() //nolint:contextcheck // it lasts as long as the command
	return nil
}

// explain says what a failure to start means.
func (c *coldChild) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return givenUp(ctx)
	}
	if !isDir(c.held.at(c.scope.Cwd)) {
		return abi.Errorf(abi.CodeNotFound, "the session's directory %s is gone, so no command can run there: %w", c.scope.Cwd, err)
	}
	if code := abi.CodeOf(err); code != abi.CodeInternal {
		return abi.Errorf(code, "the command could not be started: %w", err)
	}
	return abi.Errorf(abi.CodeIO, "the command could not be started: %w", err)
}

// unconfined is the error of a command whose sandbox is not as it was asked for, with what
// bubblewrap said if it made none.
func (c *coldChild) unconfined(err error) error {
	if !errors.Is(err, sandbox.ErrUnmade) {
		return abi.Errorf(abi.CodeIO, "the command was not run: %w", err)
	}
	c.out.finish()
	said, _ := c.out.all.ends(1 << 10)
	if text := strings.TrimSpace(string(said)); text != "" {
		err = fmt.Errorf("%w; it said %q", err, text)
	}
	return abi.Errorf(abi.CodeIO, "the command could not be confined, so its result does not count: %w", err)
}

// discard removes what was made for a command that did not start: now, or after the call if
// its process may still be starting.
func (c *coldChild) discard() {
	if c.late == nil {
		c.remove()
		return
	}
	go func() {
		<-c.late.Gone()
		c.remove()
	}()
}

// remove returns the command's last directory, if it reported one, and removes what was made
// for it, the last first.
func (c *coldChild) remove() (cwd string) {
	cwd = c.report.read()
	for _, f := range slices.Backward(c.after) {
		if err := f(); err != nil {
			c.scope.Call.Logger(c.setup.Logger).Warn("something of a command that ended was left behind", "error", err)
		}
	}
	return cwd
}

// watch has the sandbox undo what it cannot prevent while the command runs.
func (c *coldChild) watch() {
	if c.box == nil {
		return
	}
	if c.held.lasting {
		c.box.LookEvery = lastingLook
	}
	go func() {
		if err := c.box.Watch(context.Background(), c.lose); err != nil { // until the box is closed
			c.scope.Call.Logger(c.setup.Logger).Warn("it cannot be told whether what is hidden from a command stays so", "error", err)
		}
	}()
}

// lose ends the command, as its sandbox does not hold any more.
func (c *coldChild) lose(l sandbox.Loss) {
	text := l.Path + ", which commands may not make, was made again and again: the command was ended."
	switch {
	case l.Hidden:
		text = l.Path + ", which is hidden from commands, was replaced by another program while the command ran, so that it could have read it: the command was ended. It can be run again."
	case l.Err != nil:
		text = "What was made at " + l.Path + ", where commands may make nothing, could not be undone (" + l.Err.Error() + "): the command was ended."
	}
	c.lost.CompareAndSwap(nil, &text)
	c.Stop(0)
}

// end implements [child].
func (c *coldChild) end() result {
	r := result{status: c.Status(), cwd: c.remove()}
	r.lacks = c.kept()
	if text := c.lost.Load(); text != nil {
		r.interrupted = *text
	}
	if c.box != nil {
		r.made = changedText(c.box.Changed())
	}
	c.denied.mu.Lock()
	defer c.denied.mu.Unlock()
	r.denied, r.refused = c.denied.list, c.denied.open
	return r
}
