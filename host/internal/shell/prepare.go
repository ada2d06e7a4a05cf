package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
)

// prepare makes what the command runs in.
func (c *coldChild) prepare(ctx context.Context) error {
	if err := c.contain(ctx); err != nil || !c.reports(c.exec.Env) {
		return err
	}
	if c.spec.ReadOnly { // then the report cannot be a file
		var err error
		if c.report.fifo, err = makeFIFO(c.report.file); err != nil {
			return notPrepared(err)
		}
		if c.held.partial || !OwnTemp { // else its directory is mounted for FIFOs to be written to
			c.spec.Bind = append(c.spec.Bind, sandbox.Bind{Source: c.report.file, Target: c.report.file, FIFO: true})
		}
	}
	if c.bridged() {
		return c.bindPrologue()
	}
	return c.pipePrologue()
}

// contain makes the sandbox of the command, and its way to the network.
func (c *coldChild) contain(ctx context.Context) error {
	if c.held.held() {
		c.spec = c.held.spec(c.scope.Cwd, c.exec.Limits)
		if c.tells() {
			c.spec.Touches, c.spec.Renames = c.held.places(), c.held.Staged != nil
		}
	}
	if c.held.sandboxed {
		if err := c.share(ctx); err != nil {
			return notPrepared(err)
		}
	}
	if c.held.proxied {
		return c.serve(ctx)
	}
	return nil
}

// share gives the command what the commands of its session share. One that may reach more than
// the others has a network of its own: its proxy would be in their reach.
func (c *coldChild) share(ctx context.Context) (err error) {
	if c.held.Ended != nil && !c.held.HostsApproved {
		var giveBack func() error
		if c.spec.Namespace, giveBack, err = c.setup.networks.use(ctx, c.setup.Sandbox, c.held.Ended); giveBack != nil {
			c.after = append(c.after, giveBack)
		}
		return err
	}
	if c.spec.Namespace, err = c.apart(ctx); err == nil && c.spec.Namespace != nil {
		c.after = append(c.after, c.spec.Namespace.Close)
	}
	return err
}

// apart makes a namespace for this command alone, with the overlays of its session, if any.
func (c *coldChild) apart(ctx context.Context) (*sandbox.Namespace, error) {
	if c.held.Staged == nil {
		return c.setup.Sandbox.NewNamespace(ctx)
	}
	shared, giveBack, err := c.setup.networks.use(ctx, c.setup.Sandbox, c.held.Ended)
	if giveBack != nil {
		c.after = append(c.after, giveBack)
	}
	if err != nil {
		return nil, err
	}
	return c.setup.Sandbox.Beside(ctx, shared)
}

// bridged says that the way to the proxy is a bridge inside the sandbox, as the proxy cannot
// listen there.
func (c *coldChild) bridged() bool { return c.held.proxied && c.spec.Namespace == nil }

// wrap puts a confined command into a sandbox, which holds it back until it is released. The
// sandbox's own descriptors come last, and no command sees them.
func (c *coldChild) wrap(ctx context.Context) (process.Command, func(ctx context.Context, pid int) error, error) {
	command := c.exec
	if !c.held.held() {
		return command, func(context.Context, int) error { return nil }, nil
	}
	c.spec.FirstFile = len(command.Files)
	w, err := c.setup.Sandbox.Wrap(ctx, c.spec, command.Args)
	if err != nil {
		return command, nil, abi.Errorf(abi.CodeIO, "the sandbox of the command could not be made: %w", err)
	}
	c.after, c.box = append(c.after, w.Close), w
	command.Path, command.Args, command.Program, command.In = cmp.Or(w.Path, w.Inside), w.Args, w.Program, w.In
	command.Files = slices.Concat(command.Files, w.Files)
	return command, w.Release, nil
}

// pipePrologue has bash read its prologue from one more descriptor.
func (c *coldChild) pipePrologue() error {
	descriptor := len(c.exec.Files)
	r, err := pipeOf(c.report.prologue(c.program, descriptor))
	if err != nil {
		return notPrepared(err)
	}
	c.after = append(c.after, r.Close)
	c.exec.Files = append(c.exec.Files, r)
	c.exec.Env = append(c.exec.Env, "BASH_ENV=/dev/fd/"+strconv.Itoa(descriptor))
	return nil
}

// bindPrologue has bash read its prologue from a file: the bridge to the proxy passes no
// descriptors on.
func (c *coldChild) bindPrologue() error {
	dir, err := c.setup.private()
	if err != nil {
		return notPrepared(err)
	}
	name := "prologue-" + filepath.Base(c.report.file)
	source := filepath.Join(dir.Path, name)
	target := filepath.Join(cmp.Or(sandbox.PrivateDir, dir.Path), name)
	c.after = append(c.after, func() error { return os.RemoveAll(source) })
	if err := os.WriteFile(source, []byte(c.report.prologue(c.program, 0)), 0o600); err != nil {
		return notPrepared(err)
	}
	c.spec.Bind = append(c.spec.Bind, sandbox.Bind{Source: source, Target: target})
	c.exec.Env = append(c.exec.Env, "BASH_ENV="+inDoubleQuotes(target))
	return nil
}

func notPrepared(err error) error {
	return abi.Errorf(abi.CodeIO, "a command could not be prepared: %w", err)
}

// listen listens where the command reaches its proxy, and tells it where that is.
func (c *coldChild) listen(ctx context.Context) (ln net.Listener, err error) {
	if !c.bridged() {
		list, err := c.setup.Sandbox.Listen(ctx, c.spec.Namespace, 1)
		if err != nil {
			return nil, err
		}
		at, ok := list[0].Addr().(*net.TCPAddr)
		if !ok {
			return nil, errors.Join(fmt.Errorf("a proxy that listens at %v", list[0].Addr()), list[0].Close())
		}
		c.spec.ProxyPort = at.Port
		c.exec.Env = proxy.Environment(c.exec.Env, at.String())
		return list[0], nil
	}
	dir, err := c.setup.private()
	if err != nil {
		return nil, err
	}
	c.spec.Proxy = filepath.Join(dir.Path, filepath.Base(c.report.file)+".sock")
	return proxy.Listen(c.spec.Proxy)
}

// serve runs a proxy for the command as long as it runs.
func (c *coldChild) serve(ctx context.Context) error {
	listener, err := c.listen(ctx)
	if err != nil {
		return notPrepared(err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() {
		served <- proxy.Serve(serving, listener, proxy.Options{
			Allow: c.allow, LocalAllowed: c.held.Local, Denied: c.denied.add, Logger: c.setup.Logger,
			Resolve: c.setup.Resolve, Dial: c.setup.Dial,
		})
	}()
	c.after = append(c.after, func() error {
		stop()
		err := <-served
		if c.spec.Proxy != "" {
			err = errors.Join(err, os.RemoveAll(c.spec.Proxy))
		}
		return err
	})
	return nil
}

// allow answers whether rules let the command reach a host.
func (c *coldChild) allow(ctx context.Context, host string, _ int) error {
	switch {
	case c.held.Host != nil && c.held.Host(ctx, host):
		return nil
	case c.held.Denies != nil && c.held.Denies(host):
		return abi.Errorf(abi.CodeDenied, "a rule denies it")
	}
	c.denied.unruled(host)
	if c.held.lasting {
		return abi.Errorf(abi.CodeDenied, "what the program was allowed does not name %s", host)
	}
	if c.held.network != sandbox.NetworkHosts {
		return abi.Errorf(abi.CodeDenied, "commands have no network, and nobody allowed this one to reach %s", host)
	}
	return abi.Errorf(abi.CodeDenied, "no rule lets commands reach %s", host)
}

// denials are the hosts that the proxy refused, whatever the programs say.
type denials struct {
	mu   sync.Mutex
	list []denial
	// open are those among them that a person could allow.
	open []string
}

// maxDenials bounds how many refused hosts are told.
const maxDenials = 5

// add is called by the proxy.
func (d *denials) add(host string, _ int, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := func(old denial) bool { return old.host == host }
	if len(d.list) < maxDenials && !slices.ContainsFunc(d.list, known) {
		d.list = append(d.list, denial{host, why})
	}
}

// unruled notes a host that is refused because nothing allows it.
func (d *denials) unruled(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) < maxDenials && !slices.Contains(d.open, host) {
		d.open = append(d.open, host)
	}
}
