package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// Lasting is a program that lives longer than a call, with allowances of its own.
type Lasting struct {
	// Path is the program, and Args has its name first.
	Path string
	Args []string
	// Usual is the environment that commands have. Env is added to it, and counts before it.
	Usual, Env []string
	// Dir is where it starts.
	Dir string
	// Policy says what it may read, write and reach. Visible must name something: a program
	// sees nothing else. Temp is its own, and its caller's to remove.
	Policy capability.SandboxPolicy
}

// lastingLook is how often it is looked whether what is hidden from it was moved. It waits most of
// its time, and there may be many.
const lastingLook = 2 * time.Second

// Running is a [Lasting] that was started.
type Running struct {
	// Stdin, Stdout and Stderr are pipes.
	Stdin          *os.File
	Stdout, Stderr *os.File

	child *coldChild
	done  chan struct{}
	end   LastingEnd // set when done is closed
}

// LastingEnd is how such a program ended.
type LastingEnd struct {
	process.Status
	// Why says what ended it, where that was the host: a limit, or a sandbox that does not
	// hold any more. It is empty otherwise.
	Why string
	// Made is for an operator: what it made that is undone or protected from now on.
	Made string
}

// Start starts a program. The context bounds the start alone. It runs as commands do, except
// that no limit of processor time counts for it.
func (c *Capability) Start(ctx context.Context, l Lasting) (*Running, error) {
	if err := ctx.Err(); err != nil {
		return nil, givenUp(ctx)
	}
	s := c.setup
	if s.Mode == sandbox.Required && !s.confines() {
		return nil, abi.Errorf(abi.CodeUnsupported, "programs must run in a sandbox here, and there is none: %s", s.Missing)
	}
	child := l.child(ctx, s)
	r := &Running{child: child, done: make(chan struct{})}
	theirs, err := r.pipes()
	if err == nil {
		child.exec.Files = theirs
		err = child.begin(ctx)
	}
	for _, f := range theirs {
		_ = f.Close() // the program has its own
	}
	if err != nil {
		err = r.unstarted(err)
		child.discard()
		return nil, err
	}
	go r.attend() //nolint:contextcheck // until the program has ended
	return r, nil
}

// child is the process that the program is to become.
func (l *Lasting) child(ctx context.Context, s *setup) *coldChild {
	held := &confinement{SandboxPolicy: l.Policy, network: sandbox.NetworkHosts, lasting: true}
	if box := s.Sandbox; box != nil {
		held.sandboxed, held.partial, held.proxied = box.Confines(), !box.Confines(), box.Confines()
	}
	if held.partial { // it tells no hosts apart, and protects nothing
		held.Protected, held.network = nil, sandbox.NetworkOff
		if l.Policy.HostsOpened {
			held.network = sandbox.NetworkAll
		}
	}
	if held.held() {
		held.seen = append(slices.Clip(l.Policy.Visible), l.Path)
	}
	c := &coldChild{
		launch: &launch{
			command: &command{setup: s, times: s.Times.now(), scope: capability.Scope{Cwd: l.Dir}, program: l.Path},
			held:    held, dir: l.Dir, out: newOutput(false, s.MaxOutput, nil),
		},
		report: report{file: filepath.Join(l.Policy.Temp, "cwd-"+rand.Text())}, // its name is used, and nothing reports
	}
	limits := s.Limits
	limits.CPU = 0
	c.exec = process.Command{Path: l.Path, Args: l.Args, Env: l.environment(ctx, held), Dir: l.Dir, Limits: limits}
	return c
}

// environment is what the program gets, but for the proxy's variables.
func (l *Lasting) environment(ctx context.Context, held *confinement) []string {
	env := l.Usual
	if held.held() {
		env = withSettings(env, held.Environment)
		env = held.networked(ctx, env)
	}
	return withSettings(env, append(slices.Clip(l.Env), tempName+held.Temp, "PWD="+l.Dir))
}

// begin makes the sandbox, and starts the program in it.
func (c *coldChild) begin(ctx context.Context) error {
	if err := c.contain(ctx); err != nil {
		return err
	}
	err := c.release(ctx)
	if errors.Is(err, sandbox.ErrChanged) { // perhaps by chance
		err = c.release(ctx)
	}
	return err
}

// pipes makes the pipes, and returns the program's ends.
func (r *Running) pipes() (theirs []*os.File, err error) {
	ours := []**os.File{&r.Stdin, &r.Stdout, &r.Stderr}
	for i, own := range ours {
		read, write, err := os.Pipe()
		if err != nil {
			for _, f := range ours[:i] {
				_ = (*f).Close() // nothing was sent
			}
			return theirs, abi.Errorf(abi.CodeIO, "making a pipe for a program: %w", err)
		}
		if i == 0 {
			read, write = write, read
		}
		*own, theirs = read, append(theirs, write)
	}
	return theirs, nil
}

// unstarted closes the pipes of a program that did not start. The error gets what bubblewrap said.
func (r *Running) unstarted(err error) error {
	const most, patience = 1 << 10, time.Second
	if errors.Is(err, sandbox.ErrUnmade) && r.Stderr.SetReadDeadline(time.Now().Add(patience)) == nil {
		said, _ := io.ReadAll(io.LimitReader(r.Stderr, most)) // what came counts
		if text := strings.TrimSpace(string(said)); text != "" {
			err = fmt.Errorf("%w; it said %q", err, text)
		}
	}
	for _, f := range []*os.File{r.Stdin, r.Stdout, r.Stderr} {
		if f != nil {
			_ = f.Close() // nobody uses it
		}
	}
	return err
}

// attend waits for the program's end, and removes what was made for it.
func (r *Running) attend() {
	defer close(r.done)
	c := r.child
	<-c.Done()
	select {
	case <-c.Gone():
	case <-time.After(stuck):
	}
	ended := c.end()
	r.end = LastingEnd{Status: c.Status(), Why: ended.interrupted, Made: ended.made}
	if r.end.Why == "" {
		r.end.Why = limitText(&c.setup.Limits, r.end.Limit)
	}
	if c.held.Made != nil {
		r.end.Made = joined(r.end.Made, c.held.Made())
	}
	_ = r.Stdin.Close() // nothing reads it any more
}

// Pid is the number of its first process, for people and logs.
func (r *Running) Pid() int { return r.child.Pid() }

// Done is closed when nothing of the program is left.
func (r *Running) Done() <-chan struct{} { return r.done }

// End is how it ended, once Done is closed.
func (r *Running) End() LastingEnd {
	select {
	case <-r.done:
		return r.end
	default:
		return LastingEnd{}
	}
}

// Stop closes the program's standard input, which tells it to end. What is left of it after grace
// gets SIGTERM, and after as long again SIGKILL. It does not wait; said again, it can shorten the
// time.
func (r *Running) Stop(grace time.Duration) {
	_ = r.Stdin.Close() // it may be closed already
	go func() {
		select {
		case <-r.done:
		case <-time.After(max(0, grace)):
			r.child.Stop(grace)
		}
	}()
}

// Refused are the hosts that the program was kept from until now.
func (r *Running) Refused() []string {
	d := &r.child.denied
	d.mu.Lock()
	defer d.mu.Unlock()
	hosts := make([]string, len(d.list))
	for i := range d.list {
		hosts[i] = d.list[i].host
	}
	return hosts
}
