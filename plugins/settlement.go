package plugins

// settlement decides who offers which name, and refuses whole plugins rather
// than offer half of one.
type settlement struct {
	plugins []*Plugin
	// problems are the plugins' own, and then those that they have with each
	// other.
	problems []error
}

func pluginName(p *Plugin) []string { return []string{p.Name} }

func toolNames(p *Plugin) []string { return p.generation.finding.Summary.ToolNames() }

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
