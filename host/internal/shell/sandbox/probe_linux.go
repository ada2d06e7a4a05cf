//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/procfs"
)

// probe runs a command, first with a user namespace, then, as root, without.
func (b *bubblewrap) probe(ctx context.Context, v version) error {
	b.features = features{users: true, noUsers: !v.before(version{0, 8, 0}), size: !v.before(version{0, 7, 0})}
	err := b.try(ctx)
	if err == nil || os.Geteuid() != 0 {
		return err
	}
	b.features.users, b.features.noUsers = false, false
	if b.try(ctx) == nil {
		return nil
	}
	return err
}

// try runs a sandboxed command that does nothing.
func (b *bubblewrap) try(ctx context.Context) error {
	w, err := b.wrap(Spec{Cwd: "/"}, []string{"true"})
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // it has nothing to undo
	said, err := b.run(ctx, w.Args, w.Files, w.Release)
	if text := string(bytes.TrimSpace(said)); err != nil && text != "" {
		return errors.Join(errors.New(text), err)
	}
	return err
}

// run runs bubblewrap below a supervisor, to its end, and returns what it said. What may run
// only after something was looked at is released by that.
func (b *bubblewrap) run(ctx context.Context, args []string, files []*os.File, release func(ctx context.Context, pid int) error) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	said := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(r, maxSaid)) // a fault shows as text that is missing
		_ = r.Close()                                     // who says more is told that nobody reads it
		said <- text
	}()
	p, err := b.options.Supervisors.Start(ctx, process.Command{
		Path: b.path, Args: args, Env: []string{"PATH=/usr/bin:/bin:/run/current-system/sw/bin", "LC_ALL=C"},
		Files: append([]*os.File{nil, w, w}, files...), Limits: b.options.Limits,
	})
	_ = w.Close() // the process has its own
	if p == nil {
		return <-said, err
	}
	if err == nil {
		err = release(ctx, p.Pid())
	}
	if err == nil {
		select {
		case <-p.Done():
		case <-ctx.Done():
			err = fmt.Errorf("%s does not end: %w", b.path, context.Cause(ctx))
		}
	}
	p.Stop(0)
	<-p.Gone()
	if status := p.Status(); err == nil && status.Code != 0 {
		err = fmt.Errorf("it ended with status %d", status.Code)
	}
	return <-said, errors.Join(err, p.Status().Err)
}

// maxSaid bounds what is heard of bubblewrap.
const maxSaid = 64 << 10

var errNotInstalled = errors.New("bubblewrap (bwrap) is not installed: install the package bubblewrap")

// Installed reports why this machine has no program for a sandbox, or nil. It starts nothing.
// Here none is needed: whether a sandbox can be made, [Find] finds out by trying.
func Installed(Options) error { return nil }

// findProgram is where bubblewrap lies: in the usual places before the search path,
// which others have more often written to.
func findProgram(program string) (string, error) {
	if program != "" {
		return exec.LookPath(program)
	}
	for _, path := range []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"} {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// machine is what a failed probe is explained with.
type machine struct {
	// namespaces is the limit of user namespaces, clone and apparmor the switches
	// of some distributions; empty where there is none.
	namespaces, clone, apparmor string
	seccomp, container          bool
	// proc says why there is no /proc, nil where there is one. Without it nothing above is
	// known.
	proc error
	// inside says that another sandbox holds this process: by a filter of system calls and so
	// that programs give no privileges.
	inside bool
}

func readMachine() machine {
	read := func(path string) string {
		content, _ := os.ReadFile(path) // one that is not there says nothing
		return string(bytes.TrimSpace(content))
	}
	_, docker := os.Stat("/.dockerenv")
	_, podman := os.Stat("/run/.containerenv")
	status := "\n" + read("/proc/self/status") + "\n"
	return machine{
		inside:     strings.Contains(status, "\nNoNewPrivs:\t1\n") && strings.Contains(status, "\nSeccomp:\t2\n"),
		namespaces: read("/proc/sys/user/max_user_namespaces"),
		clone:      read("/proc/sys/kernel/unprivileged_userns_clone"),
		apparmor:   read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		seccomp:    strings.Contains(status, "\nSeccomp:"),
		container:  docker == nil || podman == nil,
		proc:       procfs.Check(),
	}
}

// diagnose says what is wrong and what can be done, from what bubblewrap said and
// what the machine is like.
func diagnose(said string, m machine) []string {
	said = strings.ReplaceAll(said, "\n", "; ")
	if m.proc != nil {
		return []string{m.proc.Error(), "bubblewrap said: " + said}
	}
	return append(m.reasons(said), "bubblewrap said: "+said)
}

// reasons are those for which no sandbox can be made that the machine is known to have.
func (m machine) reasons(said string) []string {
	var reasons []string
	add := func(when bool, text string) {
		if when {
			reasons = append(reasons, text)
		}
	}
	add(!m.seccomp, "the kernel has no system call filters (seccomp)")
	add(m.namespaces == "0", "user namespaces are off: set user.max_user_namespaces with sysctl to more than 0")
	add(m.clone == "0", "user namespaces are root's alone: set kernel.unprivileged_userns_clone to 1 with sysctl")
	add(m.apparmor == "1", "AppArmor restricts user namespaces: give bubblewrap a profile that allows userns, "+
		"or set kernel.apparmor_restrict_unprivileged_userns to 0 with sysctl")
	add(strings.Contains(said, "mount proc"), "this container hides parts of /proc: start it with these in sight "+
		"(for Docker: --security-opt systempaths=unconfined)")
	add(m.container && len(reasons) == 0, "this is a container: start it so that it may make user namespaces "+
		"(for Docker: --security-opt seccomp=unconfined)")
	add(m.inside && len(reasons) == 0, "another sandbox is around this process, and lets nobody make one in it")
	return reasons
}

// version is that of bubblewrap.
type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) before(o version) bool {
	for i := range v {
		if v[i] != o[i] {
			return v[i] < o[i]
		}
	}
	return false
}

func (b *bubblewrap) askVersion(ctx context.Context) (version, error) {
	out, err := b.run(ctx, []string{b.path, "--version"}, nil, func(context.Context, int) error { return nil })
	if err != nil {
		return version{}, err
	}
	return parseVersion(string(out))
}

// parseVersion reads "bubblewrap 0.8.0".
func parseVersion(text string) (version, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 || fields[0] != "bubblewrap" {
		return version{}, fmt.Errorf("it said %q", text)
	}
	var v version
	for i, part := range strings.SplitN(fields[1], ".", len(v)) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return version{}, fmt.Errorf("it said %q", text)
		}
		v[i] = n
	}
	return v, nil
}
