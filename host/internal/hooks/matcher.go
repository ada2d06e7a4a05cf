package hooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a matcher, in bytes and alternatives.
const (
	maxMatcher      = 16 << 10
	maxAlternatives = 256
)

// matcher says for which tools a hook is. The zero value is for all.
type matcher struct{ patterns []string }

// parseMatcher reads alternatives with | between them. It refuses what no tool's
// name can match: a guard that never runs is worse than one that cannot be
// configured.
func parseMatcher(text string) (matcher, error) {
	if text == "" || text == "*" {
		return matcher{}, nil
	}
	if len(text) > maxMatcher {
		return matcher{}, fmt.Errorf("%d bytes; at most %d are read", len(text), maxMatcher)
	}
	patterns := strings.Split(text, "|")
	if len(patterns) > maxAlternatives {
		return matcher{}, fmt.Errorf("%d alternatives; at most %d are read", len(patterns), maxAlternatives)
	}
	for _, p := range patterns {
		if err := checkPattern(p); err != nil {
			return matcher{}, err
		}
	}
	return matcher{patterns}, nil
}

func checkPattern(p string) error {
	if p == "" {
		return errors.New("a name is missing beside a |")
	}
	if strings.Contains(p, ".*") {
		return fmt.Errorf("matchers are no regular expressions; write %q", strings.ReplaceAll(p, ".*", "*"))
	}
	for _, r := range p {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("_-.*", r) {
			return fmt.Errorf("%q cannot be in a tool's name; write names with | between them and * for any characters", r)
		}
	}
	server, isMCP := strings.CutPrefix(p, "mcp__")
	if isMCP && !strings.Contains(server, "__") && !strings.Contains(server, "*") {
		return fmt.Errorf("it names an MCP server and no tool; write %q for all of its tools", p+"__*")
	}
	return nil
}

// matches reports whether the hook is for a tool of these names. It allocates
// nothing.
func (m matcher) matches(name string, aliases []string) bool {
	return m.patterns == nil || m.match(name) || slices.ContainsFunc(aliases, m.match)
}

func (m matcher) match(name string) bool {
	for _, p := range m.patterns {
		if glob(p, name) {
			return true
		}
	}
	return false
}

// glob matches a whole name, in at most the product of the lengths in steps.
func glob(pattern, name string) bool {
	p, n := 0, 0
	star, after := -1, 0 // where to go on if what follows the last star fails
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, after = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			after++
			p, n = star+1, after
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
