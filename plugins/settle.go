package plugins

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// settlement decides who offers which name, and refuses whole plugins rather
// than offer half of one.
type settlement struct {
	plugins []*Plugin
	// problems are the plugins' own, and then those that they have with each
	// other.
	problems []error
}

// settle orders plugins by their origins and leaves out copies. Plugins that
// have another problem than before are replaced by copies: they may be part of
// another set. Those that are refused offer nothing, and stand in nobody's way.
func settle(found []*Plugin, refused map[*Plugin]error, reserved []string) []*Plugin {
	slices.SortStableFunc(found, func(a, b *Plugin) int { return a.Origin.rank() - b.Origin.rank() })
	s := &settlement{plugins: withoutCopies(found, refused)}
	for _, p := range s.plugins {
		s.problems = append(s.problems, cmp.Or(refused[p], p.generation.problem))
	}
	pluginName := func(p *Plugin) []string { return []string{p.Name} }
	toolNames := func(p *Plugin) []string { return p.generation.finding.summary.toolNames() }
	names, tools := s.rivals(pluginName), s.rivals(toolNames)
	s.refuse(names, "name", s.refuseOthers)
	if len(names) > 0 {
		tools = s.rivals(toolNames) // those that were refused stop nobody
	}
	s.refuse(tools, "tool", s.refuseOthers)
	s.refuseReserved(reserved)
	// Whoever is no rival before others are refused is none after.
	if len(names) > 0 {
		s.refuse(s.rivals(pluginName), "name", s.refuseAll)
	}
	if len(tools) > 0 || len(names) > 0 {
		s.refuse(s.rivals(toolNames), "tool", s.refuseAll)
	}
	for i, p := range s.plugins {
		s.plugins[i] = p.with(s.problems[i])
	}
	return s.plugins
}

// withoutCopies leaves out plugins that are, byte for byte, one found before:
// the same plugin in the user's directory and on the command line is no
// conflict.
func withoutCopies(found []*Plugin, refused map[*Plugin]error) []*Plugin {
	first := make(map[string]*Plugin, len(found))
	var more map[string][]*Plugin
	return slices.DeleteFunc(found, func(p *Plugin) bool {
		if p.generation.finding == nil || refused[p] != nil {
			return false
		}
		one, taken := first[p.Name]
		switch {
		case !taken:
			first[p.Name] = p
			return false
		case p.sameAs(one) || slices.ContainsFunc(more[p.Name], p.sameAs):
			return true
		case more == nil:
			more = make(map[string][]*Plugin)
		}
		more[p.Name] = append(more[p.Name], p)
		return false
	})
}

// rivals groups the plugins, by index, that claim the same thing. Those that are
// refused already claim nothing. There are next to none, as a rule, so that only
// one who is there before is put down at first.
func (s *settlement) rivals(claims func(*Plugin) []string) map[string][]int {
	first := make(map[string]int, len(s.plugins))
	groups := make(map[string][]int)
	for i, p := range s.plugins {
		if s.problems[i] != nil {
			continue
		}
		for _, claim := range claims(p) {
			one, taken := first[claim]
			switch {
			case !taken:
				first[claim] = i
			case groups[claim] == nil:
				groups[claim] = []int{one, i}
			default:
				groups[claim] = append(groups[claim], i)
			}
		}
	}
	return groups
}

func (s *settlement) refuse(groups map[string][]int, kind string, refuse func(group []int, claim string)) {
	for _, claim := range slices.Sorted(maps.Keys(groups)) {
		refuse(groups[claim], fmt.Sprintf("the %s %q", kind, claim))
	}
}

// refuseOthers refuses plugins that claim what is a built-in plugin's: its names
// are its own.
func (s *settlement) refuseOthers(group []int, claim string) {
	at := slices.IndexFunc(group, func(i int) bool { return s.plugins[i].Origin == OriginBuiltin })
	if at < 0 {
		return
	}
	for _, i := range group {
		if s.plugins[i].Origin != OriginBuiltin {
			s.problem(i, "%s is taken by %s, which is built in; rename it in its manifest", claim, s.plugins[group[at]].Name)
		}
	}
}

// shownClaims bounds how many rivals a refusal names.
const shownClaims = 10

// refuseAll refuses every plugin that claims the same thing: to pick one would
// be to guess. Two that are built in are the embedder's own affair.
func (s *settlement) refuseAll(group []int, claim string) {
	for _, i := range group {
		if s.plugins[i].Origin == OriginBuiltin {
			continue
		}
		var others []string
		for _, j := range group {
			if q := s.plugins[j]; j != i {
				others = append(others, fmt.Sprintf("%s (%s, %s)", q.Name, q.Origin, q.Path))
			}
		}
		if n := len(others) - shownClaims; n > 0 {
			others = append(others[:shownClaims], fmt.Sprintf("%d more", n))
		}
		s.problem(i, "%s is also claimed by %s; remove one of them or rename it in its manifest", claim, strings.Join(others, ", "))
	}
}

func (s *settlement) problem(i int, format string, args ...any) {
	s.problems[i] = errors.Join(s.problems[i], abi.Errorf(abi.CodeLoad, format, args...))
}
