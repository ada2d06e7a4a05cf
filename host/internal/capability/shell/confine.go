package shell

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/host/internal/sandbox/proxy"
	"github.com/toolquay/toolquay/permissions"
)

// confined reports whether the command runs in a sandbox.
func (p *plan) confined() bool { return p.c.opts.Sandbox != nil && !p.args.Unsandboxed }

// readOnly reports whether the command needs nothing writable and no network.
func (p *plan) readOnly() bool { return p.command.ReadOnly && p.confined() }

// byHost reports whether the command reaches the network through a proxy.
func (p *plan) byHost() bool {
	return p.confined() && !p.readOnly() && p.c.opts.Network == sandbox.NetworkHosts
}

// prepare makes what the command runs in.
func (l *launch) prepare(ctx context.Context) error {
	if l.p.confined() {
		l.spec = l.specify()
	}
	if l.p.byHost() {
		if err := l.serve(ctx, &l.spec); err != nil {
			return err
		}
	}
	if l.p.confined() {
		if err := l.bindReport(&l.spec); err != nil {
			return err
		}
	}
	if !l.p.reports() || l.p.byHost() {
		return nil
	}
	return l.pipePrologue()
}

// specify says what the sandbox of the command is made of.
func (l *launch) specify() sandbox.Spec {
	spec := sandbox.Spec{
		Writable: directories(l.policy.Working), Hidden: l.policy.Hidden, Temp: l.policy.Temp, Cwd: l.p.scope.Cwd, UnixSockets: l.p.c.opts.UnixSockets,
	}
	for _, path := range l.policy.Shown {
		spec.Bind = append(spec.Bind, sandbox.Bind{Source: path, Target: path})
	}
	if l.p.readOnly() {
		// Directories that can be written to are only to be seen then: they may lie in
		// /tmp, which is another one there.
		spec.ReadOnly = true
		return spec
	}
	spec.Protected, spec.Network = l.protected(), l.p.c.opts.Network
	return spec
}

// directories leaves out what is not there, such as a cache that nothing has used yet:
// there is nothing in it that could be written to.
func directories(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !isDir(path) })
}

// protected is what may not be changed or made. A command that says so in so many words,
// and was allowed, may make a repository where there is none.
func (l *launch) protected() []string {
	if !makesRepository(&l.p.command) {
		return l.policy.Protected
	}
	return slices.DeleteFunc(slices.Clone(l.policy.Protected), func(path string) bool {
		_, err := os.Lstat(path)
		return filepath.Base(path) == ".git" && (err != nil || sandbox.IsPlaceholder(path))
	})
}

// makesRepository reports whether a command runs git init, or git clone, which may be
// told to make its repository where the command stands.
func makesRepository(command *permissions.Command) bool {
	return slices.ContainsFunc(command.Parts, func(part permissions.Part) bool {
		sub := subCommand(part.Words)
		return sub == "init" || sub == "clone"
	})
}

// subCommand is what git is told to do; empty where that cannot be told, or another
// program runs.
func subCommand(words []permissions.Word) string {
	if len(words) == 0 || filepath.Base(words[0].Text) != "git" {
		return ""
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case !w.Literal:
			return ""
		case w.Text == "-C" || w.Text == "-c":
			i++ // its value
		case !strings.HasPrefix(w.Text, "-"):
			return w.Text
		}
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// wrap puts the command into a sandbox, where it is confined, which holds it back until
// it is released. The descriptors of the sandbox, which no command sees, come last.
func (l *launch) wrap(ctx context.Context) (process.Command, func(ctx context.Context, pid int) error, error) {
	command := l.command
	if !l.p.confined() {
		return command, func(context.Context, int) error { return nil }, nil
	}
	l.spec.FirstFile = len(command.Files)
	w, err := l.p.c.opts.Sandbox.Wrap(ctx, l.spec, command.Args)
	if err != nil {
		return command, nil, abi.Errorf(abi.CodeIO, "the sandbox of the command could not be made: %w", err)
	}
	l.after, l.box = append(l.after, w.Close), w
	command.Path, command.Args = w.Path, w.Args
	command.Files = slices.Concat(command.Files, w.Files)
	return command, w.Release, nil
}

// pipePrologue has bash read its prologue from one more descriptor.
func (l *launch) pipePrologue() error {
	descriptor := len(l.command.Files)
	r, err := pipeOf(l.report.prologue(l.p.program, descriptor))
	if err != nil {
		return notPrepared(err)
	}
	l.after = append(l.after, r.Close)
	l.command.Files = append(l.command.Files, r)
	l.command.Env = append(l.command.Env, "BASH_ENV=/dev/fd/"+strconv.Itoa(descriptor))
	return nil
}

// bindReport makes what the usual places of a sandbox do not hold: a FIFO for the
// report where nothing can be written, and the prologue as a file where a bridge stands
// between, which hands no descriptors on.
func (l *launch) bindReport(spec *sandbox.Spec) error {
	if !l.p.reports() {
		return nil
	}
	if spec.ReadOnly {
		var err error
		if l.report.fifo, err = makeFIFO(l.report.file); err != nil {
			return notPrepared(err)
		}
	}
	if !l.p.byHost() {
		return nil
	}
	dir, err := l.p.c.private()
	if err != nil {
		return notPrepared(err)
	}
	name := "prologue-" + filepath.Base(l.report.file)
	source := filepath.Join(dir.Path, name)
	target := filepath.Join(cmp.Or(sandbox.PrivateDir, dir.Path), name)
	l.after = append(l.after, func() error { return gone(source) })
	if err := os.WriteFile(source, []byte(l.report.prologue(l.p.program, 0)), 0o600); err != nil {
		return notPrepared(err)
	}
	spec.Bind = append(spec.Bind, sandbox.Bind{Source: source, Target: target})
	l.command.Env = append(l.command.Env, "BASH_ENV="+inDoubleQuotes(target))
	return nil
}

// gone removes a file that may not be there.
func gone(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func notPrepared(err error) error {
	return abi.Errorf(abi.CodeIO, "a command could not be prepared: %w", err)
}

// serve runs a proxy for the command as long as it runs.
func (l *launch) serve(ctx context.Context, spec *sandbox.Spec) error {
	dir, err := l.p.c.private()
	if err != nil {
		return notPrepared(err)
	}
	spec.Proxy = filepath.Join(dir.Path, filepath.Base(l.report.file)+".sock")
	listener, err := proxy.Listen(spec.Proxy)
	if err != nil {
		return notPrepared(err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() {
		served <- proxy.Serve(serving, listener, proxy.Options{
			Allow: l.allow, LocalAllowed: l.policy.Local, Denied: l.denied.add, Logger: l.p.c.opts.Logger,
		})
	}()
	l.after = append(l.after, func() error {
		stop()
		return errors.Join(<-served, gone(spec.Proxy))
	})
	return nil
}

// allow answers whether rules let the command reach a host.
func (l *launch) allow(ctx context.Context, host string, _ int) error {
	if l.policy.Host == nil || !l.policy.Host(ctx, host) {
		return abi.Errorf(abi.CodeDenied, "no rule lets commands reach %s", host)
	}
	return nil
}
