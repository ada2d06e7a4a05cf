package protected

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// MaxNames bounds how many names a walk looks at. A second or so is enough for them.
const MaxNames = 1_000_000

// Bounds limit a walk. The zero value is a walk of [MaxNames] without a time limit.
type Bounds struct {
	// Names is how many names the walk may look at; 0 is MaxNames.
	Names int
	// Until is when the walk ends at the latest; zero is never.
	Until time.Time
	// Only are the directories to be walked, if they are known: what was remembered of
	// others is not checked then.
	Only []string
}

// Walk looks through directories for hidden and protected paths. It goes level by level,
// so that the deepest directories stay out where there are too many names.
type Walk struct {
	// Found is what it found so far.
	Found

	ctx    context.Context //nolint:containedctx // it lives as long as the walk
	rules  *permissions.SandboxPolicy
	memory *Memory
	dirs   reader
	until  time.Time
	// guarding holds the directories with odd names and all below them: there the targets
	// of links count, too.
	guarding map[string]bool
	// ruled and everywhere say that Ruled and Guarded are done.
	ruled, everywhere bool
}

// Found is what a walk found.
type Found struct {
	// Hidden are the paths that may not be read, and Protected those that a rule holds back
	// changing.
	Hidden, Protected []string
	// Unwalked are the directories that [Walk.Ruled] had no names left for, and Unguarded
	// those that [Walk.Guarded] had none left for or could not read.
	Unwalked, Unguarded []string

	// names and links are protected by their names; repositories may make git run programs.
	names, links []string
	repositories []repository
}

// repository is a directory with a .git, or a bare one.
type repository struct {
	path string
	bare bool
}

// NewWalk begins a walk by a policy and the rules that a sandbox is to enforce of it.
func (m *Memory) NewWalk(ctx context.Context, policy *permissions.Policy, rules *permissions.SandboxPolicy, b Bounds) *Walk {
	if b.Names == 0 {
		b.Names = MaxNames
	}
	before := m.before(policy)
	now := &snapshot{policy: policy, dirs: make(map[string]*directory, len(before.dirs))}
	return &Walk{
		ctx: ctx, rules: rules, memory: m, until: b.Until, guarding: make(map[string]bool),
		dirs: reader{rules: rules, left: b.Names, only: b.Only, before: before, now: now, at: m.Disk().Resolved},
	}
}

// Remember leaves what was found for the next walk.
func (w *Walk) Remember() { w.memory.last.Store(w.dirs.found(w.everywhere)) }

// Ruled looks through directories for paths that rules of any depth name. A directory that
// cannot be read is hidden as a whole: a command may have closed it, to open it again.
func (w *Walk) Ruled(dirs []string) error {
	w.ruled = true
	unwalked, err := w.walk(dirs, true)
	w.Unwalked = append(w.Unwalked, unwalked...)
	return err
}

// Guarded looks through the writable directories for paths that are guarded by their names
// at any depth, except for those that Ruled went through.
func (w *Walk) Guarded() error {
	var dirs []string
	for _, dir := range w.rules.Guarded() {
		if !w.ruled || !slices.ContainsFunc(w.rules.Walks(), func(walked string) bool { return paths.Below(dir, walked) }) {
			dirs = append(dirs, dir)
		}
	}
	w.dirs.left = MaxNames
	unwalked, err := w.walk(dirs, false)
	w.everywhere = true
	w.Unguarded = append(w.Unguarded, unwalked...)
	return err
}

// walk looks through directories and does not follow links in them. It returns the
// directories that there were no names left for.
func (w *Walk) walk(dirs []string, ruled bool) (unwalked []string, err error) {
	for _, dir := range dirs {
		w.guarding[dir] = w.guarding[dir] || w.inGuarding(dir)
	}
	for queue := slices.Clone(dirs); len(queue) > 0; queue = queue[1:] {
		if w.ctx.Err() != nil {
			return nil, context.Cause(w.ctx)
		}
		if !w.until.IsZero() && time.Now().After(w.until) {
			return nil, errTooManyNames
		}
		dir, err := w.dirs.read(queue[0], w.guarding[queue[0]])
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errTooManyNames):
			return queue, nil
		case err != nil && ruled:
			w.Hidden = append(w.Hidden, queue[0])
		case err != nil:
			w.Unguarded = append(w.Unguarded, queue[0])
		default:
			queue = append(queue, w.enter(queue[0], dir, ruled)...)
		}
	}
	return nil, nil
}

// inGuarding reports whether a directory has an odd name, or lies in one with an odd name
// below the writable directories.
func (w *Walk) inGuarding(dir string) bool {
	tops := w.rules.Guarded()
	for at := dir; at != "/" && !slices.Contains(tops, at); at = filepath.Dir(at) {
		if look := w.rules.Directory(filepath.Dir(at)); !look.Plain(filepath.Base(at)) {
			return true
		}
	}
	return false
}

// enter notes what is hidden or protected in a directory, and returns its sub-directories
// that are to be looked through. Only a walk for rules goes into git's own.
func (w *Walk) enter(path string, dir *directory, ruled bool) []string {
	if dir.worktree {
		w.repositories = append(w.repositories, repository{path, false})
	}
	if dir.bare {
		w.repositories = append(w.repositories, repository{path, true})
	}
	queue := slices.Clone(dir.dirs)
	if w.guarding[path] {
		for _, sub := range queue {
			w.guarding[sub] = true
		}
	}
	for _, odd := range dir.odd {
		if hidden := w.note(odd); !hidden && odd.dir && (ruled || filepath.Base(odd.path) != gitName) {
			queue = append(queue, odd.path)
			w.guarding[odd.path] = true
		}
	}
	return queue
}

// note records a path that is hidden or protected, and reports whether it is hidden: then
// nothing below it matters.
func (w *Walk) note(odd entryName) (hidden bool) {
	switch {
	case w.rules.Hides(odd.path):
		w.Hidden = append(w.Hidden, odd.path)
		return true
	case w.rules.Forbids(odd.path):
		w.Protected = append(w.Protected, odd.path)
	case !w.rules.Protects(odd.path):
	case odd.link:
		w.links = append(w.links, odd.path)
	default:
		w.names = append(w.names, odd.path)
	}
	return false
}
