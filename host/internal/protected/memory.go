package protected

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxRemembered bounds of how many directories a memory keeps the content.
	maxRemembered = 100_000
	// checkedAtOnce is how many directories are worth a goroutine.
	checkedAtOnce = 256
	// gitName is git's own directory in a work tree.
	gitName = ".git"
)

// Memory keeps what the last walk of a session found, for the next one, and what was looked up
// without a walk. The zero value is ready for use, and it is safe for concurrent use.
type Memory struct {
	last  atomic.Pointer[snapshot]
	files paths.Lookups
	found atomic.Pointer[found]
}

// found is what a policy without approvals hides and protects, without a walk.
type found struct {
	policy  *permissions.Policy
	roots   []string // the writable directories
	version int      // of the lookups
	places  permissions.Places
}

// Lookups returns what was looked up, renewed.
func (m *Memory) Lookups() *paths.Lookups {
	m.files.Renew()
	return &m.files
}

// Through looks at files through a view from now on: as commands whose changes are staged find them.
func (m *Memory) Through(v paths.View) { m.files.Through(v) }

// Disk returns the view through which files are looked at.
func (m *Memory) Disk() paths.Disk { return m.files.Disk() }

// Find is [permissions.SandboxPolicy.Find] by [Memory.Lookups], for the rules that a sandbox is
// to enforce of a policy; they look at files by the same. Of the hidden paths it returns those
// that exist, as they really lie. The caller may change what it returns.
func (m *Memory) Find(policy *permissions.Policy, rules *permissions.SandboxPolicy) permissions.Places {
	last, version := m.found.Load(), m.files.Version()
	if last == nil || last.policy != policy || last.version != version || len(rules.Approved) > 0 || !slices.Equal(last.roots, rules.Roots) {
		last = &found{policy, rules.Roots, version, rules.Find(m.files.Names)}
		last.places.Hidden = m.files.Existing(last.places.Hidden)
		if len(rules.Approved) == 0 {
			m.found.Store(last)
		}
	}
	p := last.places
	return permissions.Places{
		Hidden: slices.Clone(p.Hidden), Shown: slices.Clone(p.Shown), Protected: slices.Clone(p.Protected), Pinned: slices.Clone(p.Pinned),
	}
}

// before returns what the last walk by the same policy found.
func (m *Memory) before(policy *permissions.Policy) *snapshot {
	if last := m.last.Load(); last != nil && last.policy == policy {
		return last
	}
	return &snapshot{}
}

// snapshot is what a walk found. Once remembered it does not change.
type snapshot struct {
	policy *permissions.Policy // tells which names are plain
	dirs   map[string]*directory
}

// directory is the content of a directory. Whether an odd name is hidden is for each walk
// to decide, as it depends on what a person approved for the call.
type directory struct {
	state paths.State
	names int         // how many there are
	odd   []entryName // those that are not plain
	dirs  []string    // paths of the plain sub-directories
	// worktree says that it has a .git, and bare that it looks like git's own directory.
	worktree, bare bool
}

// entryName is a name that is not plain, as a path.
type entryName struct {
	path      string
	dir, link bool
}

// unchanged checks the directories of a snapshot, only those below some if that is not
// nil. It checks several at once: where little has changed, a walk spends its time here.
func (s *snapshot) unchanged(only []string, at func(path string) string) map[string]bool {
	dirs := slices.Collect(maps.Keys(s.dirs))
	if only != nil {
		dirs = slices.DeleteFunc(dirs, func(path string) bool {
			return !slices.ContainsFunc(only, func(dir string) bool { return paths.Below(path, dir) })
		})
	}
	same := make([]bool, len(dirs))
	var work sync.WaitGroup
	share := max(checkedAtOnce, (len(dirs)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	check := func(from int) {
		for i := from; i < min(from+share, len(dirs)); i++ {
			state, ok := paths.StateOf(at(dirs[i]))
			same[i] = ok && state == s.dirs[dirs[i]].state
		}
	}
	for from := share; from < len(dirs); from += share {
		work.Go(func() { check(from) })
	}
	check(0)
	work.Wait()
	fresh := make(map[string]bool, len(dirs))
	for i, path := range dirs {
		fresh[path] = same[i]
	}
	return fresh
}
