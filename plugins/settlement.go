package plugins

// settlement decides which plugin offers which name. It refuses whole plugins: none is
// offered in part.
type settlement struct {
	plugins []*Plugin
	// problems are the plugins' own, and then those that they have with each
	// other.
	problems []error
}

func pluginName(p *Plugin) []string { return []string{p.Name} }

func toolNames(p *Plugin) []string { return p.generation.finding.Summary.ToolNames() }

// rivals groups the plugins, by index, that claim the same thing. Refused plugins claim
// nothing. Rivals are rare, so a group is made only for the second claim.
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
