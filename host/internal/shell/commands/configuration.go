package commands

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/gitconfig"
)

// maxCopies bounds how many repositories' configurations one command gets copies of. Those
// of the others stay protected, the deepest first.
const maxCopies = 16

// longestSettle bounds how long a command waits for what others have changed.
const longestSettle = 500 * time.Millisecond

// copies are the configurations of repositories that one command may change, key by key.
type copies struct {
	taken    []*gitconfig.Copy
	writable []string
	cwd      string
	live     *liveCopies

	mu    sync.Mutex
	notes []string
}

// liveCopies are those of the commands that run.
type liveCopies struct {
	mu  sync.Mutex
	all map[*copies]bool
}

// settle takes over what running commands have changed by now, for the next one to see.
func (l *liveCopies) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longestSettle)
	defer cancel()
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.all))
	l.mu.Unlock()
	for _, c := range all {
		_ = c.merge(ctx) // it is tried again when the command has ended
	}
}

// put notes that copies are in use, or no longer.
func (l *liveCopies) put(c *copies, used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = make(map[*copies]bool)
	}
	if l.all[c] = true; !used {
		delete(l.all, c)
	}
}

// give lets the command change the configurations of repositories.
func (m *policyMaker) give(ctx context.Context, p *capability.SandboxPolicy, live *liveCopies) {
	live.settle(ctx)
	c, made := m.copy(p), p.Made
	if len(c.taken) == 0 {
		return
	}
	c.live = live
	live.put(c, true)
	p.Discard = c.discard
	p.Made = func() string { //nolint:contextcheck // the call may be over by then
		note := c.end()
		if made != nil {
			note = strings.TrimSpace(note + " " + made())
		}
		return note
	}
}

// copy takes the configurations of git among the protected paths out of these, and makes a
// copy of each for the command.
func (m *policyMaker) copy(p *capability.SandboxPolicy) *copies {
	c := &copies{writable: m.tops, cwd: m.cwd()}
	isConfig := func(path string) bool {
		return slices.Contains([]string{"config", "config.worktree"}, filepath.Base(path))
	}
	candidates := slices.DeleteFunc(slices.Clone(p.Protected), func(path string) bool { return !isConfig(path) || !m.copyable(path, p) })
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	slices.SortStableFunc(candidates, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, path := range candidates[:min(len(candidates), maxCopies)] {
		top := m.tops[slices.IndexFunc(m.tops, func(top string) bool { return paths.Below(path, top) })]
		taken, err := gitconfig.Take(path, top, p.Temp, m.files.At)
		if err != nil {
			continue // it stays protected
		}
		c.taken = append(c.taken, taken)
		p.Copies = append(p.Copies, capability.FileCopy{Path: path, Private: taken.Private})
		p.Protected = slices.DeleteFunc(p.Protected, func(protected string) bool { return protected == path })
	}
	return c
}

// copyable reports whether a protected path is the configuration of a repository that no rule
// holds back, which lies where it is said to, and in nothing else that is protected.
func (m *policyMaker) copyable(path string, p *capability.SandboxPolicy) bool {
	top := func(top string) bool { return paths.Below(path, top) }
	around := func(protected string) bool {
		protected = strings.TrimSuffix(protected, "/")
		return protected != path && paths.Below(path, protected)
	}
	_, err := paths.Beginning(m.files.At(filepath.Join(filepath.Dir(path), "HEAD")))
	return err == nil && slices.ContainsFunc(m.tops, top) && m.files.Locate(path).Path == path &&
		!slices.ContainsFunc(p.Protected, around) && !m.rules.Forbids(path) && !m.rules.Hides(path)
}

// end takes over what the command changed, and tells what was not. It is called when the
// command has ended.
func (c *copies) end() string {
	ctx, cancel := context.WithTimeout(context.Background(), longestRecheck)
	defer cancel()
	defer c.discard()
	err := c.merge(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.notes = append(c.notes, "Git's configuration: "+err.Error()+".")
	}
	return strings.Join(c.notes, " ")
}

// merge takes over what the command has changed by now, and notes what was not.
func (c *copies) merge(ctx context.Context) (failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	git, missing := shell.Look("git", "")
	for _, taken := range c.taken {
		name := plainly(relative(c.cwd, []string{taken.Path})[0])
		outcome, err := taken.Merge(ctx, gitconfig.Options{Git: git, Writable: c.writable})
		if err != nil {
			failed = fmt.Errorf("what the command changed in %s was not taken over: %w", name, cmp.Or(missing, err))
		}
		if note := outcome.Note(name); note != "" {
			c.notes = append(c.notes, note)
		}
	}
	return failed
}

// discard removes the copies.
func (c *copies) discard() {
	c.live.put(c, false)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, taken := range c.taken {
		taken.Close()
	}
	c.taken = nil
}
