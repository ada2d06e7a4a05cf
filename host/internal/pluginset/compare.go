package pluginset

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/skills"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
)

// Reloaded is what a reload found.
type Reloaded struct {
	Changes plugins.Changes
	// Problems are plugins that cannot be used, those whose problem is news.
	Problems []*plugins.Plugin
	Tools    Tools
}

// Tools are the names of the usable tools that differ after a reload. A tool also counts
// as changed if its contract is the same but the files of its plugin are not.
type Tools struct{ Added, Changed, Removed []string }

// None reports whether no tool differs.
func (t *Tools) None() bool { return len(t.Added)+len(t.Changed)+len(t.Removed) == 0 }

// compare fills in what differs between the usable tools.
func (t *Tools) compare(before, after map[string]*plugins.Tool) {
	for name, tool := range after {
		was, there := before[name]
		switch {
		case !there:
			t.Added = append(t.Added, name)
		case was.Plugin != tool.Plugin:
			t.Changed = append(t.Changed, name)
		}
	}
	for name := range before {
		if after[name] == nil {
			t.Removed = append(t.Removed, name)
		}
	}
	t.sort()
}

func (t *Tools) sort() {
	for _, list := range [][]string{t.Added, t.Changed, t.Removed} {
		slices.Sort(list)
	}
}

// compareNatives fills in what differs between the embedder's tools.
func (t *Tools) compareNatives(before, after *tool.Natives) {
	was := make(map[string]*tool.Native)
	for _, n := range before.All() {
		was[n.Contract().Name] = n
	}
	for _, n := range after.All() {
		name := n.Contract().Name
		switch old := was[name]; {
		case old == nil:
			t.Added = append(t.Added, name)
		case old.Definition() != n.Definition():
			t.Changed = append(t.Changed, name)
		}
		delete(was, name)
	}
	t.Removed = slices.Collect(maps.Keys(was))
	t.sort()
}

// compareSkills fills in the tools that load skills, if models are told of others than before.
func (t *Tools) compareSkills(before tool.Set, newer *skills.Set) {
	if skills.Same(before.Skills, newer) {
		return
	}
	of := &t.Changed
	switch {
	case before.Skills.None():
		of = &t.Added
	case newer.None():
		of = &t.Removed
	}
	for name, found := range usable(before.Set) {
		if _, loads := (tool.Plugin{Tool: found}).Declares(abi.CapSessionSkill); loads {
			*of = append(*of, name)
		}
	}
	t.sort()
}

// usable are the tools that can be called, by name.
func usable(set *plugins.Set) map[string]*plugins.Tool {
	tools := make(map[string]*plugins.Tool)
	for _, t := range set.Tools() {
		if t.Available() == nil {
			tools[t.Name] = t
		}
	}
	return tools
}

// newProblems are those of plugins whose kind is not the known one: while a plugin is being
// copied, it is truncated at one place after the other.
func newProblems(list []*plugins.Plugin, known map[string]string) []*plugins.Plugin {
	return slices.DeleteFunc(slices.Clone(list), func(p *plugins.Plugin) bool {
		return kind(p.Problem()) == known[p.Path]
	})
}

// problems are the kinds of those of plugins, by path.
func problems(set *plugins.Set) map[string]string {
	kinds := make(map[string]string)
	for _, p := range set.Plugins() {
		kinds[p.Path] = kind(p.Problem())
	}
	return kinds
}

// kind is what a problem says, without figures.
func kind(problem error) string {
	if problem == nil {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, problem.Error())
}
