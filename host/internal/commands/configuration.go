package commands

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/shell"
	"github.com/toolquay/toolquay/host/internal/gitconfig"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// maxCopies bounds how many repositories' configurations one command gets copies of. Those
// of the others stay protected, the deepest first.
const maxCopies = 16

// copies are the configurations of repositories that one command may change, key by key.
type copies struct {
	taken    []*gitconfig.Copy
	writable []string
	cwd      string
}

// give lets the command change the configurations of repositories.
func (m *policyMaker) give(p *capability.SandboxPolicy) {
	c, made := m.copy(p), p.Made
	if len(c.taken) == 0 {
		return
	}
	p.Discard = c.discard
	p.Made = func() string {
		note := c.merge()
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
		taken, err := gitconfig.Take(path, top, p.Temp)
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
	_, err := paths.Beginning(filepath.Join(filepath.Dir(path), "HEAD"))
	return err == nil && slices.ContainsFunc(m.tops, top) && m.resolver.Locate(path).Path == path &&
		!slices.ContainsFunc(p.Protected, around) && !m.rules.Forbids(path) && !m.rules.Hides(path)
}

// merge takes over what the command changed, and tells what was not. It is called when the
// command has ended.
func (c *copies) merge() string {
	ctx, cancel := context.WithTimeout(context.Background(), longestRecheck)
	defer cancel()
	defer c.discard()
	git, missing := shell.Look("git", "")
	var notes []string
	for _, taken := range c.taken {
		name := relative(c.cwd, []string{taken.Path})[0]
		outcome, err := taken.Merge(ctx, gitconfig.Options{Git: git, Writable: c.writable})
		if err != nil {
			if missing != nil {
				err = missing
			}
			notes = append(notes, "What the command changed in "+plainly(name)+" was not taken over: "+err.Error()+".")
		}
		if note := outcome.Note(plainly(name)); note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, " ")
}

// discard removes the copies.
func (c *copies) discard() {
	for _, taken := range c.taken {
		taken.Close()
	}
}
