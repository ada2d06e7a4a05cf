//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// launcher makes sandboxes by system calls of its own, between the fork and the exec of a
// command; see [assembly].
type launcher struct {
	live    live
	options Options
	// common is the namespace of commands whose specification names none.
	common *Namespace
	waits  atomic.Int32 // how many processes wait for commands
	// tells says that commands can report changes before they make them.
	tells bool
}

// newLauncher tries to make a sandbox, first with a user namespace, then, as root, without.
func newLauncher(ctx context.Context, o Options) (*launcher, error) {
	o.links = true
	l := &launcher{options: o, tells: listening() != 0}
	err := l.try(ctx, true)
	if err != nil && (os.Geteuid() != 0 || l.try(ctx, false) != nil) {
		return nil, err
	}
	return l, nil
}

// try makes a common namespace and runs a command that does nothing. If the command fails, it tries without
// reports of changes: a seccomp filter around this program may have a listener already.
func (l *launcher) try(ctx context.Context, users bool) (err error) {
	if l.common, err = newNamespace(ctx, l.options.Supervisors, users); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.common.Close())
		}
	}()
	err = l.tryTrue(ctx)
	if err != nil && l.tells {
		l.tells = false
		err = l.tryTrue(ctx)
	}
	return err
}

// tryTrue runs a command that does nothing.
func (l *launcher) tryTrue(ctx context.Context) error {
	w, err := l.wrap(ctx, Spec{Cwd: "/", Touches: []string{"/nowhere"}}, []string{"true"})
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // nothing was to be undone
	return do(ctx, l.options.Supervisors, process.Command{Path: w.Inside, Args: w.Args, Dir: "/", Program: w.Program})
}

// wrap is [Sandbox.Wrap].
func (l *launcher) wrap(ctx context.Context, spec Spec, argv []string) (*Wrapped, error) {
	path, err := programAt(argv[0])
	if err != nil {
		return nil, err
	}
	n := spec.Namespace
	if n == nil {
		n = l.common
	}
	if !l.tells || spec.ReadOnly {
		spec.Touches, spec.Renames = nil, false
	}
	share, mounts, next, err := l.prepared(ctx, n, spec)
	if err != nil {
		return nil, err
	}
	w := &Wrapped{Inside: path, Args: argv, Dir: spec.Cwd, done: []io.Closer{mounts}}
	var o *overseer
	if next != nil {
		w.In, o = next.process, next.overseer
		w.done = append(w.done, stopper{w.In})
	} else if o, err = newOverseer(l, n, share); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.Program, w.gate, w.done = share.of(mounts, o.theirs), o, append(w.done, o)
	if err := o.missing.begin(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if next != nil {
		o.missing.release() // nothing else tells whether it ran
	}
	return w, nil
}

// programAt is the path of a program that is given by that, or by the name that it has where
// systems keep programs.
func programAt(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: there is no program %s", ErrSpec, name)
}

// kernelRelease is the kernel's version, such as 6.1.0-18.
func kernelRelease() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}

func (l *launcher) users() bool { return l.common.user != nil }

func (l *launcher) report() Report {
	r := Report{Kind: "namespaces", Available: true, Version: "Linux " + kernelRelease()}
	if !l.users() {
		r.Reasons = append(r.Reasons, withoutUsers)
	}
	return r
}
