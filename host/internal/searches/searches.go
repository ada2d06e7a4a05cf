package searches

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// MaxNames bounds how many names are looked at to judge one search, and longestWalk how
	// long that takes.
	MaxNames    = 250_000
	longestWalk = 2 * time.Second
	// remembered is for how long a tree counts as found clear or not: from the judgement of
	// a call that nobody is asked about to that of the capability call that it makes.
	remembered = 200 * time.Millisecond
)

// Trees judges the trees that the commands of one call read. It is safe for concurrent
// use.
type Trees struct {
	past   *Past
	memory *protected.Memory
	links  *protected.HardLinks
	names  int // how many may be looked at

	mu    sync.Mutex
	known map[permissions.Access]answer
}

// answer is what was found of a tree a moment ago.
type answer struct {
	policy *permissions.Policy
	clear  bool
	until  time.Time
}

// Begin has trees judged by what earlier walks and git told, looking at so many names. It
// comes before all else.
func (t *Trees) Begin(past *Past, memory *protected.Memory, links *protected.HardLinks, names int) {
	t.past, t.memory, t.links, t.names = past, memory, links, names
}

// Sandbox is what commands run under.
type Sandbox struct {
	Policy *permissions.Policy
	// Rules are what a sandbox enforces of the policy.
	Rules *permissions.SandboxPolicy
	// Confined says that the commands run in one, and Wholly that it bounds all they see and
	// reach: see [permissions.Request].Confined.
	Confined, Wholly bool
}

// Clear returns the trees in which the commands meet nothing that rules withhold: a
// sandbox hides it, or nothing of the kind is there. See [permissions.Policy.Searched].
func (t *Trees) Clear(ctx context.Context, commands []permissions.Command, s Sandbox) []permissions.Access {
	var found, others []permissions.Access
	for i := range commands {
		for _, a := range s.Policy.Searched(commands[i : i+1]) {
			if t.clear(ctx, &commands[i], a, s) {
				found = append(found, a)
			} else {
				others = append(others, a)
			}
		}
	}
	return slices.DeleteFunc(found, func(a permissions.Access) bool { return slices.Contains(others, a) })
}

// clear judges one tree for one command.
func (t *Trees) clear(ctx context.Context, c *permissions.Command, a permissions.Access, s Sandbox) bool {
	whole := false
	if !c.Foreseen(a, s.Confined, s.Wholly && s.Policy.OnlyReads(c)) {
		if a.Objects, whole = c.Moves(a); !whole || !s.Wholly {
			return false
		}
	}
	switch {
	case a.Real == "" || paths.InKernelDir(a.Target) || paths.InKernelDir(a.Real):
		return false
	case a.Glob != "" && !strings.HasSuffix(a.Glob, paths.AllBelow): // its matches are accesses of their own
	case s.Confined && s.Rules.HidesIn(a.Target, a.Real, a.Glob):
	case !t.holdsNothing(ctx, a, s):
		return false
	}
	return a.Former == "" || t.past.Clear(ctx, s.Policy, a, whole, t.memory.Disk())
}

// holdsNothing reports whether a tree holds nothing that rules withhold.
func (t *Trees) holdsNothing(ctx context.Context, a permissions.Access, s Sandbox) bool {
	t.mu.Lock()
	before, known := t.known[a]
	t.mu.Unlock()
	if known && before.policy == s.Policy && time.Now().Before(before.until) {
		return before.clear
	}
	now := answer{s.Policy, t.walk(ctx, a, s), time.Now().Add(remembered)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = make(map[permissions.Access]answer)
	}
	t.known[a] = now
	return now.clear
}

// walk looks through a tree, under both its names: rules may name what is in it by either.
func (t *Trees) walk(ctx context.Context, a permissions.Access, s Sandbox) bool {
	dirs := slices.Compact([]string{a.Real, a.Target})
	walk := t.memory.NewWalk(ctx, s.Policy, s.Rules, protected.Bounds{Names: t.names, Until: time.Now().Add(longestWalk), Only: dirs})
	err := walk.Ruled(dirs)
	walk.Remember()
	if err != nil || len(walk.Unwalked) > 0 || slices.ContainsFunc(walk.Hidden, func(name string) bool {
		if a.Glob != "" && !matchesBelow(strings.TrimSuffix(a.Glob, paths.AllBelow), name, a) {
			return false
		}
		return s.Rules.Withholds(name) || !s.Rules.Hides(name) // the latter could not be read
	}) {
		return false
	}
	others, err := t.links.OtherNames(dirs)
	return err == nil && len(others) == 0
}

// matchesBelow reports whether a path lies at, below or above a match of a pattern, under
// either name of the tree.
func matchesBelow(glob, name string, a permissions.Access) bool {
	if rest, ok := strings.CutPrefix(name, a.Real); ok {
		name = a.Target + rest
	}
	names := strings.Split(strings.Trim(name, "/"), "/")
	for i, part := range strings.Split(strings.Trim(glob, "/"), "/") {
		if i < len(names) && !paths.MatchesName(part, names[i]) {
			return false
		}
	}
	return true
}
