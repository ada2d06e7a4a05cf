package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
}

// walkedName is a name that is not plain, as a path.
type walkedName struct {
	path string
	dir  bool
}

// wallSearch looks through directories for what patterns of any depth hide or protect.
// It goes level by level, so that what lies deepest stays out where there is too much.
type wallSearch struct {
	ctx    context.Context //nolint:containedctx // it is of one search
	rules  *permissions.Walls
	left   int // of the names that may be looked at
	before *walked
	now    *walked
	found  *permissions.Places
	// unwalked are the directories that there were too many names for.
	unwalked []string
}

// newWallSearch begins a walk by a policy, for which an earlier one may be of use.
func newWallSearch(ctx context.Context, policy *permissions.Policy, rules *permissions.Walls, before *walked, found *permissions.Places) *wallSearch {
	if before == nil || before.policy != policy {
		before = &walked{}
	}
	return &wallSearch{
		ctx: ctx, rules: rules, left: maxWalled, before: before, found: found,
		now: &walked{policy: policy, dirs: make(map[string]*walkedDir, len(before.dirs))},
	}
}

// in looks through directories, links in them not followed. One that cannot be looked
// through is hidden as a whole: a command may have closed it, to open it again later.
func (s *wallSearch) in(dirs []string) error {
	for queue := slices.Clone(dirs); len(queue) > 0; queue = queue[1:] {
		if s.ctx.Err() != nil {
			return cancelled(s.ctx)
		}
		dir, err := s.look(queue[0])
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errTooManyNames):
			s.unwalked = append(s.unwalked, queue...)
			return nil
		case err != nil:
			s.found.Hidden = append(s.found.Hidden, queue[0])
		default:
			queue = append(queue, dir.dirs...)
			for _, odd := range dir.odd {
				if shut := s.shut(odd.path); !shut && odd.dir {
					queue = append(queue, odd.path)
				}
			}
		}
	}
	return nil
}

var errTooManyNames = errors.New("there are too many names to look at")

// look finds out what there is in a directory. One that is as it was is not read again.
func (s *wallSearch) look(path string) (*walkedDir, error) {
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
	if state, ok := stateOf(path); !ok || state != dir.state {
		return nil
	}
	if len(s.now.dirs) < maxRemembered {
		s.now.dirs[path] = dir
	}
	return dir
}

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
	for {
		entries, err := d.ReadDir(walkPiece)
		dir.names += len(entries)
		switch {
		case dir.names > s.left:
			return nil, false, errTooManyNames
		case errors.Is(err, io.EOF):
			return dir, lasts, nil
		case err != nil:
			return nil, false, absent(err)
		}
		for _, entry := range entries { // most are plain and no directories
			switch name := entry.Name(); {
			case !look.Plain(name):
				dir.odd = append(dir.odd, walkedName{prefix + name, entry.IsDir()})
			case entry.IsDir():
				dir.dirs = append(dir.dirs, prefix+name)
			}
		}
	}
}

// shut keeps a path that is to be hidden or protected, and reports whether nothing below
// it need be looked for.
func (s *wallSearch) shut(path string) bool {
	if s.rules.Hides(path) {
		s.found.Hidden = append(s.found.Hidden, path)
		return true
	}
	if s.rules.Protects(path) {
		s.found.Protected = append(s.found.Protected, path)
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
