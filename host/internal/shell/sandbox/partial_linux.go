//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// partial holds commands where no sandbox can be made, by what the kernel lets every process do
// to itself: Landlock, a filter of system calls, and giving up capabilities. It is less than a
// sandbox, as [partial.lost] says.
//
// Landlock only grants, to whole trees. So a name in a directory that a command may write in can
// be neither hidden nor protected. In what it may only read a hidden name is left out: its
// directory's other entries are granted one by one.
type partial struct {
	options  Options
	landlock landlockABI
	// shared are directories of the machine's that commands write in, since they have none of
	// their own.
	shared []string
}

// newPartial finds out what the kernel offers, and tries it. It is nil where that is nothing.
func newPartial(ctx context.Context, o Options) *partial {
	p := &partial{options: o, landlock: askLandlock(), shared: []string{"/tmp", "/var/tmp", "/dev/shm"}}
	if p.try(ctx) == nil {
		return p
	}
	p.landlock = 0
	if p.try(ctx) == nil {
		return p
	}
	return nil
}

// try runs a command that does nothing.
func (p *partial) try(ctx context.Context) error {
	w, err := p.wrap(Spec{Cwd: "/", ReadOnly: true}, []string{"true"})
	if err != nil {
		return err
	}
	err = do(ctx, p.options.Supervisors, process.Command{Path: w.Inside, Args: w.Args, Dir: "/", Program: w.Program})
	return errors.Join(err, w.Close())
}

// describe adds to a report that there is a partial sandbox.
func (p *partial) describe(r *Report) {
	r.Kind, r.Path, r.Version = "seccomp", "", "Linux "+kernelRelease()
	if p.landlock > 0 {
		r.Kind, r.Version = "landlock", fmt.Sprintf("%d, %s", p.landlock, r.Version)
	}
	r.Lost = p.lost()
}

// lost says, for people, what a sandbox would hold and this does not.
func (p *partial) lost() []string {
	list := []string{"Commands ask as they do without a sandbox."}
	switch {
	case p.landlock == 0:
		list = append(list, "This kernel offers no Landlock: commands read and write all files that this user may.")
	case p.landlock < moves:
		list = append(list, "This kernel's Landlock lets no file move between directories: only commands that just read are held by it, others read and write all files that this user may.")
	default:
		list = append(list, "In the directories that a command may write in it reads what rules hide and changes what is protected, such as .git/hooks.",
			"/tmp, /var/tmp and /dev/shm are the machine's, with the temporary files of other programs and sessions.")
	}
	if p.landlock >= moves && p.landlock < empties {
		list = append(list, "This kernel's Landlock lets commands empty files that this user may write.")
	}
	list = append(list,
		"Modes, owners, times and attributes of this user's files can be changed anywhere, but by commands that just read.",
		"The network is held only where it is off, and is off for the machine's loopback too: hosts are not told apart, and servers listen for everybody on this machine.",
		"Commands see the machine's processes and the names, sizes and times of files, and share System V memory and message queues with other programs.")
	if p.landlock < isolates {
		list = append(list, "Commands can signal all processes of this user.")
	}
	return list
}

// wrap is [Sandbox.Wrap].
func (p *partial) wrap(spec Spec, argv []string) (*Wrapped, error) {
	path, err := programAt(argv[0])
	if err != nil {
		return nil, err
	}
	w := &Wrapped{Inside: path, Args: argv, Dir: spec.Cwd}
	a := &assembly{Program: &calls.Program{}}
	w.Program = a.Program
	a.dieWithParent()
	a.Call("leaving the session of the terminal", unix.SYS_SETSID)
	a.giveUp(confinement(spec.UnixSockets, spec.network() == NetworkOff))
	a.filter(partialFilter(spec.ReadOnly))
	if p.landlock >= moves || p.landlock > 0 && spec.ReadOnly {
		granted, err := p.granted(spec)
		if err != nil {
			return nil, fmt.Errorf("%w: what it may do by Landlock: %w", ErrUnmade, err)
		}
		w.done = []io.Closer{granted.file}
		a.Call("restricting itself by Landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, a.Hold(granted.file), calls.Int(0))
	}
	return w, nil
}

// granted is what a command may do to files, and whether it may use the network.
func (p *partial) granted(spec Spec) (*ruleset, error) {
	l, err := p.places(spec)
	if err != nil {
		return nil, err
	}
	r, err := newRuleset(p.landlock, spec.network() != NetworkOff)
	if err != nil {
		return nil, err
	}
	list := make([]*entry, 0, len(l.wanted))
	for _, e := range l.wanted {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(order(a.target), order(b.target)) })
	for i, e := range list {
		if err == nil && e.kind != kindLink && !e.closed() {
			err = r.tree(e, holes(list[i+1:], e))
		}
	}
	for path, rights := range p.devices() {
		err = cmp.Or(err, r.grant(path, rights))
	}
	if err != nil {
		return nil, errors.Join(err, r.file.Close())
	}
	return r, nil
}

// places are the paths that a specification speaks of, as in a sandbox's layout.
func (p *partial) places(spec Spec) (*layout, error) {
	l := &layout{wanted: make(map[string]*entry), seen: newObservations(nil)}
	l.want(kindReadOnly, "/", "/")
	l.want(kindEmpty, "/dev", "")
	if len(spec.Visible) > 0 {
		l.wanted["/"].kind = kindEmpty
	}
	l.machine(p.options, spec)
	writable := slices.Clone(spec.Writable)
	if spec.Temp != "" {
		writable = append(writable, spec.Temp)
	}
	var roots []string
	for _, path := range writable {
		root, err := l.seen.realDir(path)
		if err != nil {
			return nil, err
		}
		l.open(root, !spec.ReadOnly)
		roots = append(roots, root)
	}
	for _, b := range spec.Bind {
		source, err := l.seen.resolve(b.Source)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSpec, err)
		}
		l.open(source, b.FIFO || b.Writable && !spec.ReadOnly)
	}
	if !spec.ReadOnly {
		for _, path := range p.shared {
			l.open(path, true)
		}
	}
	for _, path := range spec.Visible {
		l.see(path, roots)
	}
	hidden := slices.Clone(spec.Hidden)
	if filepath.IsAbs(p.options.State) { // else it could not be made, and hides nothing
		hidden = append(hidden, p.options.State)
	}
	for _, path := range hidden {
		l.hide(path)
	}
	return l, nil
}

// open asks for what lies at a path.
func (l *layout) open(path string, writable bool) {
	k := kindReadOnly
	if writable {
		k = kindWritable
	}
	l.want(k, path, path)
}

// devices are those that harm nobody, and the kernel's account of processes.
func (p *partial) devices() map[string]uint64 {
	m := map[string]uint64{"/dev/ptmx": mayUseDevice, "/dev/pts": mayUseDevice | unix.LANDLOCK_ACCESS_FS_READ_DIR, "/proc": mayRead &^ unix.LANDLOCK_ACCESS_FS_EXECUTE}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		m["/dev/"+name] = mayUseDevice
	}
	return m
}

// closed says that nothing of what lies there is in sight.
func (e *entry) closed() bool { return e.fresh() || e.hides() }

// holes are the paths below an entry that are closed.
func holes(list []*entry, around *entry) []string {
	var paths []string
	for _, e := range list {
		// What hides in /proc cannot be left out: other entries come and go there.
		if e.closed() && within(e.target, around.target) && !within(e.target, "/proc") {
			paths = append(paths, e.target)
		}
	}
	return paths
}

// maxRules bounds what is granted entry by entry; each costs some microseconds.
const maxRules = 8192

// tree grants what lies at an entry, without the holes if it is only read.
func (r *ruleset) tree(e *entry, holes []string) error {
	switch {
	case e.writable():
		return r.grant(e.target, mayWrite)
	case len(holes) == 0:
		return r.grant(e.target, mayRead)
	}
	if err := r.grant(e.target, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	return r.around(e.target, holes)
}

// around grants the reading of a directory's entries, but of holes. Links are not followed. A
// directory with too many entries stays closed.
func (r *ruleset) around(dir string, holes []string) error {
	names, err := readNames(dir, maxRules-r.rules)
	if err != nil {
		return nil //nolint:nilerr // the command cannot read it either, or it has too many
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		inside := slices.DeleteFunc(slices.Clone(holes), func(hole string) bool { return !within(hole, path) })
		switch {
		case len(inside) == 0:
			err = r.grant(path, mayRead)
		case !slices.Contains(inside, path):
			err = r.around(path, inside)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errMany is a directory with more names than asked for.
var errMany = errors.New("too many names")

// readNames returns the names in a directory, at most so many.
func readNames(dir string, most int) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	names, err := f.Readdirnames(max(most, 0) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > most {
		return nil, errMany
	}
	return names, nil
}
