package shell

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// confinement is what one command may reach.
type confinement struct {
	// SandboxPolicy is complete in a sandbox. Outside of one only Working and Temp count.
	capability.SandboxPolicy
	// sandboxed says that the command runs in a sandbox, partial that it runs in a partial one,
	// which confines nothing, and readOnly that it needs nothing writable and no network there.
	sandboxed, partial, readOnly bool
	network                      sandbox.Network
	unixSockets                  bool
	// proxied says that the command's way to the network is a proxy, which refuses it all
	// where nothing is open to it: then it is known what it asked for.
	proxied bool
	// lasting says that it holds a program with allowances of its own; see [Lasting].
	lasting bool
	// repository says that the command may create a git repository: it asks for that
	// explicitly, and was allowed.
	repository bool
	// seen are the files and directories in sight; none is all.
	seen []string
}

// confine finds out what a command may reach, by the rules and files as they are now.
func confine(ctx context.Context, c *command) (*confinement, error) {
	h := &confinement{network: c.setup.Network, unixSockets: c.setup.UnixSockets, repository: makesRepository(&c.known)}
	if box := c.setup.Sandbox; box != nil && !c.args.Unsandboxed {
		h.sandboxed, h.partial = box.Confines(), !box.Confines()
	}
	if h.partial && h.network == sandbox.NetworkHosts { // it tells no hosts apart
		h.network = sandbox.NetworkOff
		if mayConnect(&c.known) {
			h.network = sandbox.NetworkAll
		}
	}
	h.readOnly = h.held() && c.known.ReadOnly || h.sandboxed && c.scope.Shell.OnlyReads(&c.known)
	var err error
	h.SandboxPolicy, err = c.scope.Shell.SandboxPolicy(ctx, h.held(), !h.readOnly)
	if h.Tried {
		h.network, h.unixSockets = sandbox.NetworkOff, false
	}
	h.proxied = h.sandboxed && !h.readOnly && !h.Tried && h.network != sandbox.NetworkAll && (h.HostsOpened || mayConnect(&c.known))
	if h.partial {
		h.Protected = nil // it protects nothing
	}
	if len(h.Visible) > 0 && !c.isPowerShell() { // what that reads is not known here
		h.seen = slices.Concat(h.Visible, []string{c.program}, h.named(&c.known))
	}
	return h, err
}

// held reports whether something holds the command.
func (h *confinement) held() bool { return h.sandboxed || h.partial }

// named are the paths outside of the view that the command was permitted to read: the gate
// judged each that it names. Of a directory only the list of its names may have been meant;
// it is shown if the command does no more than what was judged.
func (h *confinement) named(known *permissions.Command) []string {
	whole := known.ReadOnly || known.Restrained
	var out []string
	for i := range known.Parts {
		for _, a := range known.Parts[i].Accesses {
			if a.Kind == permissions.AccessRead && a.Real != "" && !inside(a.Real, h.Visible) && !inside(a.Real, h.Working) && (whole || a.Tree || !isDir(a.Real)) {
				out = append(out, a.Target, a.Real)
			}
		}
	}
	return out
}

// mayConnect reports whether a command may do more than it is known to do to files.
func mayConnect(known *permissions.Command) bool {
	bounded := func(p permissions.Part) bool { return p.Inner || p.Bounded() }
	return known.Fault != "" || len(known.Parts) == 0 || slices.ContainsFunc(known.Parts, func(p permissions.Part) bool { return !bounded(p) })
}

// spec describes the sandbox of a command that begins in a directory.
func (h *confinement) spec(cwd string, limits process.Limits) sandbox.Spec {
	// Directories may be missing, such as a cache that nothing has used yet.
	missing := func(dir string) bool { return !isDir(h.at(dir)) }
	spec := sandbox.Spec{
		Writable: slices.DeleteFunc(slices.Concat(h.Working, h.Repositories), missing), Visible: h.seen, Hidden: h.Hidden, Temp: h.Temp, Cwd: cwd, UnixSockets: h.unixSockets, Limits: limits,
		Staged: h.Staged != nil,
	}
	for _, path := range h.Shown {
		if slices.Contains(h.Working, path) {
			continue // it is mounted anyway
		}
		spec.Bind = append(spec.Bind, sandbox.Bind{Source: path, Target: path})
	}
	if h.readOnly {
		// Writable only makes the directories visible then: they may lie in /tmp, which the
		// sandbox has its own of.
		spec.ReadOnly = true
		return spec
	}
	for _, path := range h.Opened {
		spec.Bind = append(spec.Bind, sandbox.Bind{Source: path, Target: path, Writable: true})
	}
	if h.Layer != "" {
		spec.Writable = append(spec.Writable, h.Layer)
		if !h.Tried {
			spec.Unstaged = []string{h.Layer}
		}
	}
	for _, c := range h.Copies {
		spec.Copies = append(spec.Copies, sandbox.Copy(c))
	}
	spec.Protected = h.protected()
	switch {
	case h.proxied:
		spec.Network = sandbox.NetworkHosts
	case h.network == sandbox.NetworkAll:
		spec.Network = sandbox.NetworkAll
	}
	return spec
}

// discard removes what was made for a command that did not start.
func (h *confinement) discard() {
	if h.Discard != nil {
		h.Discard()
	}
}

// Limits of a command in a trial, in addition to those of all commands; sizes are in bytes.
const (
	triedMemory    = 512 << 20
	triedFile      = 512 << 20
	triedProcesses = 256
)

// limits returns the command's resource limits.
func (l *launch) limits() process.Limits {
	limits := l.setup.Limits
	if !l.held.Tried {
		return limits
	}
	limits.Memory, limits.FileSize = bounded(limits.Memory, triedMemory), bounded(limits.FileSize, triedFile)
	limits.Processes = bounded(limits.Processes, triedProcesses)
	return limits
}

// bounded returns the lower of two limits, of which the first is none if it is 0.
func bounded[T int | int64 | uint64](limit, most T) T {
	if limit == 0 {
		return most
	}
	return min(limit, most)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// protected are the paths that may not be changed or created.
func (h *confinement) protected() []string {
	if !h.repository {
		return h.Protected
	}
	return slices.DeleteFunc(slices.Clone(h.Protected), func(path string) bool {
		_, err := os.Lstat(h.at(path))
		return filepath.Base(path) == ".git" && err != nil
	})
}

// protects reports whether a path is protected, or lies in a protected one.
func (h *confinement) protects(path string) bool {
	return slices.ContainsFunc(h.protected(), func(p string) bool { return inside(path, []string{p}) })
}

// protectedBelow returns a protected path in a directory that lies below a working directory;
// empty is none.
func (h *confinement) protectedBelow(path string) string {
	if slices.Contains(h.Working, path) || !inside(path, h.Working) {
		return ""
	}
	for _, protected := range h.Protected {
		if inside(protected, []string{path}) {
			return protected
		}
	}
	return ""
}

// hides reports whether a sandbox hides a path. There is no list of the system files that it
// hides: they are the regular files that this process can read and other users may not, such
// as /etc/shadow if it runs as root.
func (h *confinement) hides(path string) bool {
	if h.Layer != "" && inside(path, []string{h.Layer}) {
		return false
	}
	if inside(path, h.Hidden) {
		return !inside(path, h.Shown)
	}
	if inside(path, h.Working) || inside(path, []string{h.Temp}) {
		return false
	}
	const others = 0o004
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&others != 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was read
	return true
}

// inside reports whether a real path is one of the directories or lies in one.
func inside(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	})
}
