package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	r.Available, r.Reasons = true, weaker
	return s, r
}

// Confines reports whether it is a sandbox.
func (*Sandbox) Confines() bool { return true }

// weaker is what a sandbox holds less here than on Linux, or allows less.
var weaker = []string{
	"sandbox-exec is deprecated by macOS, and nobody here has tried what its sandboxes hold: commands ask as if there were none, also those that only see what they may",
	"commands reach no server that another one started: the loopback is the machine's, of which only their proxy's port is open to them",
	"/tmp is not theirs: temporary files belong where TMPDIR says",
	"the names, sizes and times of all files are in sight",
	"git config, git remote add and git push -u fail inside, as .git/config cannot be shown as a copy",
}

// Copies reports whether files can be shown as copies; see [Spec].Copies.
func (*Sandbox) Copies() bool { return false }

// Tells reports false: this system cannot report what a command changes; see [Wrapped.Tell].
func (*Sandbox) Tells() bool { return false }

// ProxySocket is empty: a proxy listens on the machine's loopback.
const ProxySocket = ""

// Bounds is false though [Spec].Visible counts on this system: nobody has tried there what it
// holds.
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
	for _, list := range []*[]string{&spec.Writable, &spec.Hidden, &spec.Visible} {
		*list = resolved(*list)
	}
	spec.Bind = slices.Clone(spec.Bind)
	for i := range spec.Bind {
		spec.Bind[i].Source = resolved([]string{spec.Bind[i].Source})[0]
	}
	if spec.Temp != "" {
		spec.Temp = resolved([]string{spec.Temp})[0]
	}
	spec.Protected, spec.Copies = protected(spec.protected()), nil
	args := append([]string{filepath.Base(program), "-p", Profile(spec), "--"}, argv...)
	return &Wrapped{Path: program, Args: args}, nil
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

// Namespace stands for the machine's network on this system: sandboxes have none of their own.
type Namespace struct{}

// Close does nothing.
func (*Namespace) Close() error { return nil }

// NewNamespace returns one.
func (*Sandbox) NewNamespace(context.Context) (*Namespace, error) { return &Namespace{}, nil }

// Listen listens on the machine's loopback, at ports of which [Spec].ProxyPort opens one to a
// command.
func (*Sandbox) Listen(ctx context.Context, _ *Namespace, count int) ([]net.Listener, error) {
	var list []net.Listener
	for range count {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			for _, other := range list {
				_ = other.Close() // nobody was told of it
			}
			return nil, err
		}
		list = append(list, ln)
	}
	return list, nil
}
