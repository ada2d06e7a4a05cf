package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// program is where macOS has its sandbox.
const program = "/usr/bin/sandbox-exec"

// probePatience is what a probe takes at most.
const probePatience = 10 * time.Second

// Sandbox wraps commands into sandbox-exec.
type Sandbox struct{ options Options }

// Installed reports why this machine has no program for a sandbox, or nil. It starts nothing.
func Installed(Options) error {
	_, err := os.Stat(program)
	return err
}

// Find looks for a sandbox and tries it once. The sandbox is nil where the report
// says that there is none.
func Find(ctx context.Context, o Options) (*Sandbox, Report) {
	s := &Sandbox{options: o}
	r := Report{Kind: "sandbox-exec", Path: program}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	w, err := s.Wrap(ctx, Spec{Cwd: "/"}, []string{"/usr/bin/true"})
	if err == nil {
		err = exec.CommandContext(ctx, w.Path, w.Args[1:]...).Run()
	}
	if err != nil {
		r.Reasons = []string{fmt.Sprintf("%s does not work here: %v", program, err)}
		return nil, r
	}
	r.Available = true
	return s, r
}

// Confines reports whether it is a sandbox.
func (*Sandbox) Confines() bool { return true }

// Copies reports whether files can be shown as copies; see [Spec].Copies.
func (*Sandbox) Copies() bool { return false }

// ProxySocket is empty: a proxy's socket is reached at its own path.
const ProxySocket = ""

// Bounds says that [Spec].Visible counts on this system.
const Bounds = false

// PrivateDir is empty: files are reached at their own paths.
const PrivateDir = ""

// Wrap turns a command into one that runs it in a sandbox. The command's own working
// directory is the caller's to set.
func (s *Sandbox) Wrap(_ context.Context, spec Spec, argv []string) (*Wrapped, error) {
	if err := spec.valid(); err != nil {
		return nil, err
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("%w: no command", ErrSpec)
	}
	if s.options.State != "" {
		spec.Hidden = append([]string{s.options.State}, spec.Hidden...)
	}
	for _, list := range []*[]string{&spec.Writable, &spec.Hidden} {
		*list = resolved(*list)
	}
	if spec.Temp != "" {
		spec.Temp = resolved([]string{spec.Temp})[0]
	}
	spec.Protected, spec.Copies = protected(spec.protected()), nil
	args := []string{filepath.Base(program), "-p", Profile(spec), "--"}
	if spec.network() == NetworkHosts && len(s.options.Bridge) > 0 {
		args = append(append(args, s.options.Bridge...), spec.Proxy)
	}
	return &Wrapped{Path: program, Args: append(args, argv...)}, nil
}

// Exec is not needed: the profile says which sockets there are.
func Exec([]string, []string) error { return ErrNone }

// resolved follows the links of paths; one that is not there stays as it is.
func resolved(paths []string) []string {
	list := make([]string, 0, len(paths))
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		list = append(list, path)
	}
	return list
}

// protected follows the links above names, and keeps a name that is a link beside
// what it leads to.
func protected(paths []string) []string {
	list := make([]string, 0, len(paths))
	for _, path := range paths {
		path = filepath.Clean(path)
		at, rest := path, ""
		for at != "/" {
			at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
			if real, err := filepath.EvalSymlinks(at); err == nil {
				list = append(list, filepath.Join(real, rest))
				break
			}
		}
		list = append(list, resolved([]string{path})...)
	}
	return list
}

// Namespace is of no use on this system: sandboxes share nothing.
type Namespace struct{}

// Close does nothing.
func (*Namespace) Close() error { return nil }

// NewNamespace returns nil: sandboxes share nothing on this system.
func (*Sandbox) NewNamespace(context.Context) (*Namespace, error) { return nil, nil } //nolint:nilnil // that is no error

// Listen fails: there are no namespaces.
func (*Sandbox) Listen(context.Context, *Namespace, int) ([]net.Listener, error) { return nil, ErrNone }

// Shares reports false: there are no namespaces.
func (*Sandbox) Shares() bool { return false }

// Dial fails: there are no namespaces.
func (*Sandbox) Dial(context.Context, *Namespace, int) (net.Conn, error) { return nil, ErrNone }

// Judge returns the error: there are no programs on this system.
func Judge(err error) error { return err }

// Close does nothing: a sandbox holds nothing on this system.
func (*Sandbox) Close() error { return nil }
