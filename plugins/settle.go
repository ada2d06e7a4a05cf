package plugins

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/toolquay/toolquay/abi"
)

// settle orders plugins by the precedence of their origins, leaves out copies, and
// refuses plugins whose names others have. Plugins that have another problem than
// before are replaced by copies: they may be part of another set. Refused plugins offer
// nothing and claim no names.
func settle(found []*Plugin, refused map[*Plugin]error, reserved []string) []*Plugin {
	slices.SortStableFunc(found, func(a, b *Plugin) int { return rank(a.Origin) - rank(b.Origin) })
	s := &settlement{plugins: withoutCopies(found, refused)}
	for _, p := range s.plugins {
		s.problems = append(s.problems, cmp.Or(refused[p], p.generation.problem))
	}
	names := s.rivals(pluginName)
	s.refuse(names, "name")
	s.refuse(s.rivals(toolNames), "tool") // refused plugins claim nothing
	s.refuseReserved(reserved)
	s.award()
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

// refuse refuses plugins that claim what is a built-in plugin's: its names are its
// own.
func (s *settlement) refuse(groups map[string][]int, kind string) {
	for _, claim := range slices.Sorted(maps.Keys(groups)) {
		group := groups[claim]
		at := slices.IndexFunc(group, func(i int) bool { return s.plugins[i].Origin == OriginBuiltin })
		if at < 0 {
			continue
		}
		for _, i := range group {
			if s.plugins[i].Origin != OriginBuiltin {
				s.problem(i, "the %s %q is taken by %s, which is built in; rename it in its manifest", kind, claim, s.plugins[group[at]].Name)
			}
		}
	}
}

func (s *settlement) problem(i int, format string, args ...any) {
	s.problems[i] = errors.Join(s.problems[i], abi.Errorf(abi.CodeLoad, format, args...))
}
