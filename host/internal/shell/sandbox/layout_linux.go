//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// layout is what lies where, outer places before those in them.
type layout struct {
	wanted  map[string]*entry
	entries []*entry
	// above are the entries around the place being looked at, from the outside in.
	above []*entry
	temp  string
	// missing are the protected names that are not there, each in a folder that is.
	missing []string
	// seen is what it was made of.
	seen *observations
}

// newLayout looks at the machine's files and settles what is mounted for a
// specification.
func newLayout(o Options, spec Spec, over *overlays) (*layout, error) {
	l := &layout{wanted: make(map[string]*entry), seen: newObservations(over)}
	if err := l.places(o, spec); err != nil {
		return nil, err
	}
	if err := l.settle(); err != nil {
		return nil, err
	}
	if err := l.stagedOnly(spec); err != nil {
		return nil, err
	}
	slices.Sort(l.missing)
	l.missing = slices.DeleteFunc(slices.Compact(l.missing), func(path string) bool { return !l.writableAt(filepath.Dir(path)) })
	if spec.Cwd != "" && !l.inSight(spec.Cwd) {
		return nil, fmt.Errorf("%w: the working directory %s is hidden", ErrSpec, spec.Cwd)
	}
	return l, nil
}

// stagedOnly fails if a command that uses overlays could change anything outside them, apart from
// its temporary folder and [Spec].Unstaged.
func (l *layout) stagedOnly(spec Spec) error {
	switch {
	case l.seen.over == nil && spec.Staged:
		return fmt.Errorf("%w: there are no overlays any more", ErrOverlay)
	case l.seen.over == nil:
		return nil
	}
	unstaged := slices.Clone(spec.Unstaged)
	if l.temp != "" {
		unstaged = append(unstaged, l.temp)
	}
	for _, e := range l.entries {
		one, _ := l.seen.over.over(e.source)
		if e.writable() && one == nil && !inAny(e.source, unstaged) {
			return fmt.Errorf("%w: changes of %s would not be staged", ErrSpec, e.source)
		}
	}
	return nil
}

// want asks for an entry; see [kind] for several at one place.
func (l *layout) want(k kind, target, source string) {
	if have := l.wanted[target]; have == nil || k > have.kind {
		l.wanted[target] = &entry{kind: k, target: target, source: source}
	}
}

// places collects what is asked for, in any order.
func (l *layout) places(o Options, spec Spec) error {
	if err := l.temporary(spec); err != nil {
		return err
	}
	l.machine(o, spec)
	l.others(o, spec)
	open := kindWritable
	if spec.ReadOnly {
		open = kindReadOnly
	}
	var roots []string
	for _, path := range spec.Writable {
		root, err := l.seen.realDir(path)
		if err != nil {
			return err
		}
		if root == "/" || within(root, "/proc") || within(root, "/sys") || within(root, "/dev") {
			return fmt.Errorf("%w: %s cannot be writable", ErrSpec, path)
		}
		l.want(open, root, root)
		roots = append(roots, root)
	}
	for _, b := range spec.Bind {
		if err := l.bind(b, open); err != nil {
			return err
		}
		if b.Writable {
			roots = append(roots, b.Source)
		}
	}
	l.visible(o, spec, roots)
	if !spec.ReadOnly {
		for _, path := range l.copied(o, spec) {
			if err := l.protect(path, roots); err != nil {
				return err
			}
		}
	}
	for _, path := range slices.Concat(spec.Hidden, []string{o.State}, l.seen.over.stores()) {
		l.hide(path)
	}
	return nil
}

// copied asks for the links to copies, where the sandbox can mount links, and returns the paths
// that are protected beside them.
func (l *layout) copied(o Options, spec Spec) []string {
	if !o.links {
		return spec.protected()
	}
	for _, c := range spec.Copies {
		l.want(kindCopied, l.seen.realTarget(filepath.Clean(c.Path)), c.Private)
	}
	return spec.Protected
}

// temporary is what lies at /tmp and /var/tmp.
func (l *layout) temporary(spec Spec) error {
	k, source := kindScratch, ""
	if spec.Temp != "" {
		dir, err := l.seen.realDir(spec.Temp)
		if err != nil {
			return err
		}
		k, source, l.temp = kindWritable, dir, dir
	}
	if spec.ReadOnly {
		k = map[kind]kind{kindScratch: kindEmpty, kindWritable: kindReadOnly}[k]
	}
	for _, path := range []string{"/tmp", "/var/tmp"} {
		if resolved, err := l.seen.realDir(path); err == nil {
			l.want(k, resolved, source)
		}
	}
	if l.temp != "" {
		l.want(k, l.temp, l.temp)
	}
	return nil
}

// scratches are the names of this program's folders for temporary files.
const scratches = "toolquay-*"

// others hides the temporary files of other sessions, where these do not lie in /tmp: the
// whole folder of such files, for more may come, but what is in it and in use is shown. If
// the command works in that folder, it is those there are now.
func (l *layout) others(o Options, spec Spec) {
	dir, err := l.seen.realDir(os.TempDir())
	if err != nil || dir == "/" || l.wanted[dir] != nil {
		return
	}
	paths := []string{dir}
	for _, path := range append([]string{spec.Cwd, o.Home}, spec.Writable...) {
		if resolved, err := l.seen.realDir(path); err == nil && within(resolved, dir) {
			paths = l.seen.glob(filepath.Join(dir, scratches))
			break
		}
	}
	for _, path := range paths {
		if path == dir || path != l.temp { // its own among those there are
			l.hide(path)
		}
	}
}

// machine is what is hidden whatever the specification says: the sockets of daemons,
// other people's homes, and what only root reads, for where root runs the sandbox.
func (l *layout) machine(o Options, spec Spec) {
	for _, path := range []string{"/run", "/var/run"} {
		if resolved, err := l.seen.realDir(path); err == nil {
			l.want(kindEmpty, resolved, "")
		}
	}
	if len(spec.Visible) == 0 {
		l.homes(o)
	}
	for _, pattern := range machineSecrets {
		for _, path := range l.seen.glob(pattern) {
			if !l.seen.closedToReader(path) {
				l.hide(path)
			}
		}
	}
	kept := []string{"/run/current-system"} // where a system keeps its programs there
	if spec.network() == NetworkAll {
		kept = append(kept, "/etc/resolv.conf")
	}
	for _, path := range kept {
		if resolved, err := l.seen.resolve(path); err == nil {
			target := path
			if !within(path, "/run") {
				target = resolved
			}
			l.want(kindReadOnly, target, resolved)
		}
	}
}

// homes hides the homes of others.
func (l *layout) homes(o Options) {
	l.hide("/home")
	if home, err := l.seen.realDir(o.Home); err == nil && home != "/" {
		l.want(kindReadOnly, home, home)
		if home != "/root" && !within(home, "/root") {
			l.hide("/root")
		}
	}
}

// machineSecrets are files that root's commands have no use for, and parts of the
// kernel's that tell about others or configure it. Not in the list is what takes a
// capability to open, which no command has: /proc/kcore and /proc/kmsg.
var machineSecrets = []string{
	"/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*", "/etc/ssl/private", "/etc/ssh/ssh_host_*_key",
	"/etc/krb5.keytab", "/etc/kubernetes", "/etc/rancher", "/etc/wireguard", "/etc/NetworkManager/system-connections",
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/rancher", "/var/spool/cron",
	"/proc/keys", "/proc/key-users", "/proc/latency_stats",
	"/proc/sched_debug", "/proc/timer_list", "/proc/scsi", "/proc/acpi", "/proc/asound",
	"/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security", "/sys/fs/bpf", "/sys/firmware",
}

// hide asks for a mask over what a path leads to. What is not there, or not in this
// user's reach, needs none. What lies in a folder that this user has closed to itself,
// and so could open again, is hidden with that.
func (l *layout) hide(path string) {
	resolved, err := l.seen.resolve(path)
	if errors.Is(err, fs.ErrPermission) {
		resolved, err = l.seen.closedAbove(path)
	}
	if err != nil || resolved == "/" || !l.seen.reachable(resolved) {
		return
	}
	info, err := l.seen.lstat(resolved)
	switch {
	case err != nil:
		return
	case info.IsDir():
		l.want(kindHiddenDir, resolved, "")
	default:
		// A device on a mount that allows none: opening it is refused, to its owner too.
		l.want(kindHiddenFile, resolved, os.DevNull)
	}
	l.wanted[resolved].was = info
}

func (l *layout) bind(b Bind, open kind) error {
	source, err := l.seen.resolve(b.Source)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSpec, err)
	}
	switch {
	case !b.Writable:
		open = kindReadOnly
	case source != b.Source:
		return fmt.Errorf("%w: %s leads to %s, which nobody asked to be writable", ErrSpec, b.Source, source)
	}
	l.want(open, l.seen.realTarget(filepath.Clean(b.Target)), source)
	return nil
}

// protect walks from a writable root to a name, and asks for what is there to be held.
// Folders on the way are held where they are by pins. The first thing that is not there is
// noted as missing.
func (l *layout) protect(path string, roots []string) error {
	path = filepath.Clean(path)
	root, rest := "", ""
	for _, r := range roots {
		// The roots are resolved and the path is not: the part above the root is
		// resolved with it.
		if name, ok := l.seen.below(path, r); ok && len(r) > len(root) {
			root, rest = r, name
		}
	}
	if root == "" {
		return nil // it is read-only as it is
	}
	if rest == "" { // it stays in sight, wherever it lies
		l.wanted[root] = &entry{kind: kindReadOnly, target: root, source: root}
		return nil
	}
	at, names := root, strings.Split(rest, "/")
	for i, name := range names {
		at = filepath.Join(at, name)
		last := i == len(names)-1
		info, err := l.seen.lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.miss(at, root)
			return nil
		case errors.Is(err, fs.ErrPermission):
			above := filepath.Dir(at) // is closed, and is to stay so with what is in it
			l.want(kindProtected, above, above)
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrSpec, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%w: %s is protected, and %s is a link", ErrLink, path, at)
		case !info.IsDir() && !last:
			l.want(kindProtected, at, at) // a file where a folder would have to be
			return nil
		}
	}
	l.want(kindProtected, at, at)
	return nil
}

// miss notes a protected name that is not there. The folder that it would lie in stays where
// it is, to be watched; one that cannot be watched stays as it is.
func (l *layout) miss(path, root string) {
	dir := filepath.Dir(path)
	switch {
	case l.seen.closedToUser(dir): // nobody makes anything there
	case l.seen.may(dir, unix.R_OK) != nil:
		l.want(kindProtected, dir, dir)
	default:
		if dir != root {
			l.want(kindPin, dir, dir)
		}
		l.missing = append(l.missing, path)
	}
}

// at is the innermost entry around a resolved path.
func (l *layout) at(path string) *entry {
	innermost := &entry{kind: kindReadOnly}
	for _, e := range l.entries {
		if within(path, e.target) {
			innermost = e
		}
	}
	return innermost
}

// writableAt says whether a command can write to what lies at a resolved path.
func (l *layout) writableAt(path string) bool {
	e := l.at(path)
	return e.writable() && e.own()
}

// inSight says whether a path is to be seen in the sandbox.
func (l *layout) inSight(path string) bool {
	if resolved, err := l.seen.resolve(path); err == nil {
		path = resolved
	}
	e := l.at(path)
	return !e.fresh() && e.kind != kindHiddenFile
}

// changeable says whether a command can write to a file.
func (l *layout) changeable(path string) bool {
	path, err := l.seen.resolve(path)
	return err == nil && l.writableAt(path)
}
