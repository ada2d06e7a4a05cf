package hooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// Bounds of what a command prints, in bytes. Over the first it is ended; of
// standard error the rest is dropped.
const (
	maxStdout = 1 << 20
	maxStderr = 64 << 10
)

// waitDelay is how long a command's pipes are waited for once it has ended or been
// killed: something it left behind, out of our reach, may hold them open.
const waitDelay = 500 * time.Millisecond

// exitDeny is the exit status that denies.
const exitDeny = 2

// noExit stands for no exit status, in [Record].
const noExit = -1

var (
	errStdout = fmt.Errorf("it printed more than %d bytes", maxStdout)
	errHeld   = errors.New("it ended, but left something running that holds its output open; redirect that one's output")
)

// shell is what runs a line.
const shell = "sh"

func (h *hook) argv() []string {
	if h.Command != nil {
		return h.Command
	}
	return []string{shell, "-c", h.Shell}
}

// run runs the command of a hook on its document and reads its answer. What a
// command that runs out of time has started is ended with it, unless it left the
// command's session; what one leaves running that ends by itself is let be.
func (h *hook) run(ctx context.Context, in *Input, doc []byte) (out Output, exit int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	argv := h.argv()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = h.dir(in)
	cmd.Env = h.environment(in, cmd.Dir)
	stdout := &capture{limit: maxStdout, over: func() { cancel(errStdout) }}
	stderr := &capture{limit: maxStderr, over: func() {}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(doc), stdout, stderr
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = waitDelay
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return Output{}, noExit, fmt.Errorf("it cannot be started: %w", err)
	}
	out, err = h.read(ctx, err, cmd.ProcessState.ExitCode(), stdout, stderr)
	return out, cmd.ProcessState.ExitCode(), err
}

// read finds out what a command answered that has ended.
func (h *hook) read(ctx context.Context, err error, exit int, stdout, stderr *capture) (Output, error) {
	said := strings.TrimSpace(clean(stderr.kept.String()))
	switch cause := context.Cause(ctx); {
	case exit == exitDeny: // by itself, whatever happened then
		return denial(said), nil
	case cause != nil:
		return Output{}, fmt.Errorf("it was ended: %w", cause)
	case errors.Is(err, exec.ErrWaitDelay):
		return Output{}, errHeld
	case err != nil && said != "":
		return Output{}, fmt.Errorf("it failed (%w): %s", err, said)
	case err != nil:
		return Output{}, fmt.Errorf("it failed (%w)", err)
	}
	return parse(h.Event, stdout.kept.Bytes())
}

func denial(reason string) Output {
	return Output{Verdict: permissions.Deny, Reason: cmp.Or(reason, noReason)}
}

// noReason stands where a hook refuses and does not say why.
const noReason = "it said no, and not why"

// capture keeps the first bytes of what is written to it, up to a limit, and calls
// over when there is more. It has no ReadFrom, which would know no limit.
type capture struct {
	kept  bytes.Buffer
	limit int
	over  func()
}

// Write keeps what there is room for and never fails.
func (c *capture) Write(p []byte) (int, error) {
	room := c.limit - c.kept.Len()
	if len(p) > room {
		c.over()
	}
	c.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}
