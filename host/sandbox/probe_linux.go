//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/procfs"
)

// probePatience is what a probe takes at most; it takes milliseconds.
const probePatience = 10 * time.Second

// oldest is the first bubblewrap with all that is needed.
var oldest = version{0, 5, 0}

// Find looks for a sandbox and tries it once. The sandbox is nil where the report
// says that there is none. What dead processes left of theirs is removed.
func Find(ctx context.Context, o Options) (*Sandbox, Report) {
	r := Report{Kind: "none"}
	path, err := findProgram(o.Program)
	if err != nil {
		r.Reasons = []string{"bubblewrap (bwrap) is not installed: install the package bubblewrap"}
		return nil, r
	}
	r.Kind, r.Path = "bubblewrap", path
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	v, err := askVersion(ctx, path)
	if err != nil {
		r.Reasons = []string{fmt.Sprintf("%s does not tell its version: %v", path, err)}
		return nil, r
	}
	r.Version = v.String()
	if v.before(oldest) {
		r.Reasons = []string{fmt.Sprintf("%s is version %v: at least %v is needed", path, v, oldest)}
		return nil, r
	}
	s := &Sandbox{options: o, path: path}
	if err := s.open(ctx); err != nil {
		r.Reasons = []string{err.Error()}
		return nil, r
	}
	if err := s.probe(ctx, v); err != nil {
		r.Reasons = diagnose(err.Error(), readMachine())
		return nil, r
	}
	r.Available = true
	if !s.features.users {
		r.Reasons = append(r.Reasons, "without a user namespace, which this machine does not let root make: root's files are its own inside too")
	}
	return s, r
}

// probe runs a command, first with a user namespace, then, as root, without.
func (s *Sandbox) probe(ctx context.Context, v version) error {
	s.features = features{users: true, noUsers: !v.before(version{0, 8, 0}), size: !v.before(version{0, 7, 0})}
	err := s.try(ctx)
	if err == nil || os.Geteuid() != 0 {
		return err
	}
	s.features.users, s.features.noUsers = false, false
	if s.try(ctx) == nil {
		return nil
	}
	return err
}

// try runs a sandboxed command that does nothing.
func (s *Sandbox) try(ctx context.Context) error {
	w, err := s.Wrap(ctx, Spec{Cwd: "/"}, []string{"true"})
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // it holds no placeholders
	cmd := exec.CommandContext(ctx, w.Path)
	cmd.Args, cmd.ExtraFiles = w.Args, w.Files
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = []string{"PATH=/usr/bin:/bin:/run/current-system/sw/bin", "LC_ALL=C"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	held := w.Release(ctx)
	if held != nil {
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // Wait tells what there is to tell
	}
	err = cmd.Wait()
	if text := string(bytes.TrimSpace(out.Bytes())); err != nil && text != "" {
		return errors.Join(errors.New(text), held)
	}
	return errors.Join(err, held)
}

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
}

func readMachine() machine {
	read := func(path string) string {
		content, _ := os.ReadFile(path) // one that is not there says nothing
		return string(bytes.TrimSpace(content))
	}
	_, docker := os.Stat("/.dockerenv")
	_, podman := os.Stat("/run/.containerenv")
	return machine{
		namespaces: read("/proc/sys/user/max_user_namespaces"),
		clone:      read("/proc/sys/kernel/unprivileged_userns_clone"),
		apparmor:   read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		seccomp:    strings.Contains(read("/proc/self/status"), "\nSeccomp:"),
		container:  docker == nil || podman == nil,
		proc:       procfs.Check(),
	}
}

// diagnose says what is wrong and what can be done, from what bubblewrap said and
// what the machine is like.
func diagnose(said string, m machine) []string {
	if m.proc != nil {
		return []string{m.proc.Error(), "bubblewrap said: " + said}
	}
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
	return append(reasons, "bubblewrap said: "+said)
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

func askVersion(ctx context.Context, path string) (version, error) {
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
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
