package host

import (
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// maxSearched bounds how many names are looked at to see whether a search of a command
	// that nothing confines meets what rules withhold, and longestSearch how long that takes.
	maxSearched   = 250_000
	longestSearch = 2 * time.Second
)

// clearTrees are those that commands read without meeting anything that rules withhold: a
// sandbox hides it, or nothing of the kind is there. See [permissions.Policy.Searched].
func (g *callGate) clearTrees(policy *permissions.Policy, about *gate.Subject) []permissions.Access {
	var found, others []permissions.Access
	for i := range about.Commands {
		command := about.Commands[i : i+1]
		searched := policy.Searched(command)
		if len(searched) == 0 {
			continue
		}
		s := treeSearch{gate: g, policy: policy, confined: g.confined(about)}
		s.rules = policy.Walls(g.Approvals.Allowed()).Around(g.writable())
		for _, a := range searched {
			if s.clear(&command[0], a) {
				found = append(found, a)
			} else {
				others = append(others, a)
			}
		}
	}
	return slices.DeleteFunc(found, func(a permissions.Access) bool { return slices.Contains(others, a) })
}

// writable are the directories that a sandbox of the session leaves writable.
func (g *callGate) writable() []string {
	dirs := g.policy().WorkingDirs()
	if o := g.call.session().host.options.Shell; o != nil {
		dirs = append(dirs, o.Writable...)
	}
	return make(realPaths).all(dirs)
}

// confined reports whether the commands of a matter run in a sandbox that hides what rules
// withhold: those that the capability of this host runs, which is judged by its name when it
// is asked for.
func (g *callGate) confined(about *gate.Subject) bool {
	h := g.call.session().host
	_, runs := g.call.tool.declares(abi.CapShellRun)
	if _, native := g.call.tool.(*nativeTool); native {
		runs = about.Operation != "" // the tool itself may run commands as it likes
	}
	if h.options.Shell == nil || !runs || about.Operation != "" && about.Operation != abi.CapShellRun || g.call.leavesSandbox() {
		return false
	}
	w, err := h.commands.open(g.call.session().ctx)
	return err == nil && w.box != nil
}

// treeSearch finds out what the commands of one matter meet in trees that they read.
type treeSearch struct {
	gate     *callGate
	policy   *permissions.Policy
	rules    *permissions.Walls
	confined bool
}

// clear reports whether a command meets nothing in a tree that rules withhold.
func (s *treeSearch) clear(c *permissions.Command, a permissions.Access) bool {
	session := s.gate.call.session()
	switch {
	case a.Real == "" || inKernelDir(a.Target) || inKernelDir(a.Real) || !c.Foreseen(a, s.confined):
		return false
	case a.Glob != "" && !strings.HasSuffix(a.Glob, allBelow): // its matches are accesses of their own
	case s.confined && s.rules.HidesIn(a):
	case !s.nothingIn(a):
		return false
	}
	return a.Former == "" || session.host.former.clear(session.ctx, s.policy, a)
}

// looked is what was found of a tree a moment ago.
type looked struct {
	policy  *permissions.Policy
	nothing bool
	until   time.Time
}

// asOf is how long it counts that nothing was found in a tree: from the judgement of a call
// that nobody is asked about to that of the capability call that it makes.
const asOf = 200 * time.Millisecond

// nothingIn reports whether a tree holds nothing that rules withhold.
func (s *treeSearch) nothingIn(a permissions.Access) bool {
	g := s.gate
	g.mu.Lock()
	before, known := g.looked[a]
	g.mu.Unlock()
	if known && before.policy == s.policy && time.Now().Before(before.until) {
		return before.nothing
	}
	now := looked{s.policy, s.lookThrough(a), time.Now().Add(asOf)}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.looked == nil {
		g.looked = make(map[permissions.Access]looked)
	}
	g.looked[a] = now
	return now.nothing
}

// lookThrough looks through a tree. What cannot be looked through may hold anything.
func (s *treeSearch) lookThrough(a permissions.Access) bool {
	session := s.gate.call.session()
	dirs := slices.Compact([]string{a.Real, a.Target}) // rules may name what is below by either
	var found permissions.Places
	walk := newWallSearch(session.ctx, s.policy, s.rules, session.walked.Load(), &found)
	walk.whole, walk.left, walk.until, walk.only = true, session.host.maxSearched, time.Now().Add(longestSearch), dirs
	err := walk.in(dirs)
	session.walked.Store(walk.remembered())
	if err != nil || len(walk.unwalked) > 0 || slices.ContainsFunc(found.Hidden, func(name string) bool {
		if a.Glob != "" && !matchesBelow(strings.TrimSuffix(a.Glob, allBelow), name, a) {
			return false
		}
		return s.rules.Withholds(name) || !s.rules.Hides(name) // what is not hidden could not be read
	}) {
		return false
	}
	held := *s.gate.heldFiles() // a copy, as looking takes of what may be looked at
	others, err := held.otherNames(dirs)
	return err == nil && len(others) == 0
}

// matchesBelow reports whether a path lies at, below or above what a pattern matches, under
// either name of the tree.
func matchesBelow(glob, name string, a permissions.Access) bool {
	if rest, ok := strings.CutPrefix(name, a.Real); ok {
		name = a.Target + rest
	}
	names := strings.Split(strings.Trim(name, "/"), "/")
	for i, part := range strings.Split(strings.Trim(glob, "/"), "/") {
		if i < len(names) && !matchesName(part, names[i]) {
			return false
		}
	}
	return true
}
