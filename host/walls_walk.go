package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxWalled bounds how many names a walk looks at: as many as a second or so is
	// enough for.
	maxWalled = 1_000_000
	// maxShutDirs is how many directories are hidden one by one of those that a walk
	// did not come to: each costs every sandbox a mount.
	maxShutDirs = 128
	// maxRemembered is of how many directories a session remembers what a walk found.
	maxRemembered = 100_000
	// walkPiece is how many names are read of a directory at a time.
	walkPiece = 4096
)

// walked is what a walk found, for the next one. It is not changed any more.
type walked struct {
	// policy is the one that names are plain by.
	policy *permissions.Policy
	dirs   map[string]*walkedDir
}

// walkedDir is what there is in a directory. Whether a name that is not plain is hidden
// is for each walk to find out: it depends on what the call was allowed.
type walkedDir struct {
	state dirState
	names int
	odd   []walkedName
	dirs  []string // the paths of those that are plain
	// worktree says that it has a .git, and bare that it is laid out as git's own.
	worktree, bare bool
}

// walkedName is a name that is not plain, as a path.
type walkedName struct {
	path      string
	dir, link bool
}

// wallSearch looks through directories for what patterns of any depth hide or protect.
// It goes level by level, so that what lies deepest stays out where there is too much.
type wallSearch struct {
	ctx    context.Context //nolint:containedctx // it is of one search
	rules  *permissions.Walls
	left   int       // of the names that may be looked at
	until  time.Time // when it ends at the latest; zero is never
	before *walked
	now    *walked
	found  *permissions.Places
	// fresh are the directories that are as an earlier walk found them; only those below
	// one of only are looked at, if there are any.
	fresh map[string]bool
	only  []string
	// kept is what it found to be protected.
	kept keptNames
	// guarding are directories with names that are not plain, and all below: what links in
	// them lead to counts, too.
	guarding map[string]bool
	// unwalked are the directories that there were too many names for, and unguarded those
	// in a search for what is guarded by its name.
	unwalked, unguarded []string
	// searched says that it looked for what is guarded, which is everywhere.
	searched bool
	// whole says that rules may name anything, so that what is git's own is walked too.
	whole bool
}

// newWallSearch begins a walk by a policy, for which an earlier one may be of use.
func newWallSearch(ctx context.Context, policy *permissions.Policy, rules *permissions.Walls, before *walked, found *permissions.Places) *wallSearch {
	if before == nil || before.policy != policy {
		before = &walked{}
	}
	return &wallSearch{
		ctx: ctx, rules: rules, left: maxWalled, before: before, found: found,
		now: &walked{policy: policy, dirs: make(map[string]*walkedDir, len(before.dirs))}, guarding: make(map[string]bool),
	}
}

// remembered is what the next walk is to begin with: what this one found, and what it had
// no reason to look at.
func (s *wallSearch) remembered() *walked {
	for path, dir := range s.before.dirs {
		if len(s.now.dirs) >= maxRemembered {
			break
		}
		if s.now.dirs[path] == nil && !s.searched {
			s.now.dirs[path] = dir
		}
	}
	return s.now
}

// longestPath is of a directory that is looked into: there has to be room for names in it,
// and for the mount over one, below the kernel's limit for paths.
const longestPath = 3500

var errLongPath = errors.New("the path is too long to look at")

// in looks through directories, links in them not followed. One that cannot be looked
// through is hidden, or protected, as a whole: a command may have closed it, to open it
// again later.
func (s *wallSearch) in(dirs []string) error {
	for _, dir := range dirs {
		s.guarding[dir] = s.guarding[dir] || s.inGuarding(dir)
	}
	for queue := slices.Clone(dirs); len(queue) > 0; queue = queue[1:] {
		if s.ctx.Err() != nil {
			return gate.Cancelled(s.ctx)
		}
		if !s.until.IsZero() && time.Now().After(s.until) {
			return errTooManyNames
		}
		dir, err := s.look(queue[0])
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errTooManyNames):
			s.unwalked = append(s.unwalked, queue...)
			return nil
		case err != nil && s.whole:
			s.found.Hidden = append(s.found.Hidden, queue[0])
		case err != nil:
			s.unguarded = append(s.unguarded, queue[0])
		default:
			queue = append(queue, s.enter(queue[0], dir)...)
		}
	}
	return nil
}

// inGuarding reports whether a directory is one with a name that is not plain, or lies in
// one, as seen from the writable directories.
func (s *wallSearch) inGuarding(dir string) bool {
	tops := s.rules.Guarded()
	for at := dir; at != "/" && !slices.Contains(tops, at); at = filepath.Dir(at) {
		if look := s.rules.Directory(filepath.Dir(at)); !look.Plain(filepath.Base(at)) {
			return true
		}
	}
	return false
}

// guarded looks through what is writable for what is guarded by its name at any depth, as
// far as that was not looked through for rules.
func (s *wallSearch) guarded() error {
	var dirs []string
	for _, dir := range s.rules.Guarded() {
		if !s.whole || !slices.ContainsFunc(s.rules.Walks(), func(walked string) bool { return below(dir, walked) }) {
			dirs = append(dirs, dir)
		}
	}
	further := *s
	further.left, further.unwalked, further.whole = maxWalled, nil, false
	err := further.in(dirs)
	s.searched = true
	s.kept, s.unguarded = further.kept, slices.Concat(further.unguarded, further.unwalked)
	return err
}

// enter keeps what is hidden or protected in a directory, and returns those in it that are
// to be looked through.
func (s *wallSearch) enter(path string, dir *walkedDir) []string {
	if dir.worktree {
		s.kept.repositories = append(s.kept.repositories, repository{path, false})
	}
	if dir.bare {
		s.kept.repositories = append(s.kept.repositories, repository{path, true})
	}
	queue := slices.Clone(dir.dirs)
	if s.guarding[path] {
		for _, sub := range queue {
			s.guarding[sub] = true
		}
	}
	for _, odd := range dir.odd {
		if shut := s.shut(odd); !shut && odd.dir && (s.whole || filepath.Base(odd.path) != gitName) {
			queue = append(queue, odd.path)
			s.guarding[odd.path] = true
		}
	}
	return queue
}

// gitName is what git calls its own directory in a work tree.
const gitName = ".git"

var errTooManyNames = errors.New("there are too many names to look at")

// look finds out what there is in a directory. One that is as it was is not read again.
func (s *wallSearch) look(path string) (*walkedDir, error) {
	if len(path) > longestPath {
		return nil, errLongPath
	}
	dir := s.known(path)
	if dir == nil {
		read, lasts, err := s.read(path)
		if err != nil {
			return nil, err
		}
		if dir = read; lasts && len(s.now.dirs) < maxRemembered {
			s.now.dirs[path] = dir
		}
	}
	if dir.names > s.left {
		return nil, errTooManyNames
	}
	s.left -= dir.names
	return dir, nil
}

// known is what an earlier walk found in a directory, if that is so still.
func (s *wallSearch) known(path string) *walkedDir {
	dir := s.before.dirs[path]
	if dir == nil {
		return nil
	}
	if s.fresh == nil {
		s.fresh = s.before.unchanged(s.only)
	}
	if !s.fresh[path] {
		return nil
	}
	if len(s.now.dirs) < maxRemembered {
		s.now.dirs[path] = dir
	}
	return dir
}

// unchanged looks at all directories that a walk found, several at a time: that is what a
// walk takes its time for where hardly anything was changed.
func (w *walked) unchanged(only []string) map[string]bool {
	paths := slices.Collect(maps.Keys(w.dirs))
	if only != nil {
		paths = slices.DeleteFunc(paths, func(path string) bool {
			return !slices.ContainsFunc(only, func(dir string) bool { return below(path, dir) })
		})
	}
	same := make([]bool, len(paths))
	var work sync.WaitGroup
	share := max(lookedAtOnce, (len(paths)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(paths); from += share {
		work.Go(func() {
			for i := from; i < min(from+share, len(paths)); i++ {
				state, ok := stateOf(paths[i])
				same[i] = ok && state == w.dirs[paths[i]].state
			}
		})
	}
	work.Wait()
	fresh := make(map[string]bool, len(paths))
	for i, path := range paths {
		fresh[path] = same[i]
	}
	return fresh
}

// lookedAtOnce is how many directories are worth a goroutine.
const lookedAtOnce = 256

// read reads a directory. Lasts says that whatever happens to it from now on shows.
func (s *wallSearch) read(path string) (dir *walkedDir, lasts bool, err error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, false, absent(err)
	}
	defer d.Close()
	dir = &walkedDir{}
	dir.state, lasts = stateAtRest(d) // before it is read: what changes meanwhile shows, too
	look := s.rules.Directory(path)
	prefix := strings.TrimSuffix(path, "/") + "/"
	var layout gitLayout
	for {
		entries, err := d.ReadDir(walkPiece)
		dir.names += len(entries)
		switch {
		case dir.names > s.left:
			return nil, false, errTooManyNames
		case errors.Is(err, io.EOF):
			was := s.before.dirs[path]
			dir.worktree, dir.bare = layout.worktree, layout.bare() || was != nil && was.bare
			return dir, lasts, nil
		case err != nil:
			return nil, false, absent(err)
		}
		for _, entry := range entries { // most are plain and no directories
			name := entry.Name()
			layout.add(name, entry.IsDir())
			link := entry.Type()&fs.ModeSymlink != 0
			switch {
			case !look.Plain(name), link && s.guarding[path]:
				dir.odd = append(dir.odd, walkedName{prefix + name, entry.IsDir(), link})
			case entry.IsDir():
				dir.dirs = append(dir.dirs, prefix+name)
			}
		}
	}
}

// gitLayout is what the names in a directory say of git.
type gitLayout struct{ worktree, head, objects, refs, config, hooks bool }

func (l *gitLayout) add(name string, dir bool) {
	switch name {
	case gitName:
		l.worktree = true
	case "HEAD", "commondir":
		l.head = true
	case "objects":
		l.objects = true
	case "refs":
		l.refs = true
	case "config", "config.worktree":
		l.config = l.config || !dir
	case "hooks":
		l.hooks = dir
	}
}

// bare says that it looks like git's own directory, even where a command took some of what
// makes one away, to bring it back later.
func (l *gitLayout) bare() bool {
	content := l.objects || l.refs
	return l.head && (content || l.config || l.hooks) || l.config && (content || l.hooks) || l.objects && l.refs && l.hooks
}

// shut keeps a path that is to be hidden or protected, and reports whether nothing below
// it need be looked for.
func (s *wallSearch) shut(odd walkedName) bool {
	switch {
	case s.rules.Hides(odd.path):
		s.found.Hidden = append(s.found.Hidden, odd.path)
		return true
	case s.rules.Forbids(odd.path):
		s.found.Protected = append(s.found.Protected, odd.path)
	case !s.rules.Protects(odd.path):
	case odd.link:
		s.kept.links = append(s.kept.links, odd.path)
	default:
		s.kept.names = append(s.kept.names, odd.path)
	}
	return false
}

// gathered makes at most so many directories of a list: in the place of those that lie
// deepest it takes the ones above them. All that was named lies in one of the result.
func gathered(dirs []string, most int) []string {
	set := make(map[string]bool, len(dirs))
	for _, dir := range dirs {
		set[dir] = true
	}
	for len(set) > most {
		deepest := 0
		for dir := range set {
			deepest = max(deepest, depthOf(dir))
		}
		for dir := range set {
			if depthOf(dir) == deepest {
				delete(set, dir)
				set[filepath.Dir(dir)] = true
			}
		}
	}
	out := slices.Sorted(maps.Keys(set))
	return slices.DeleteFunc(slices.Clone(out), func(dir string) bool {
		return slices.ContainsFunc(out, func(other string) bool { return other != dir && below(dir, other) })
	})
}

// depthOf is how many components a clean path has.
func depthOf(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }
