package skills

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// least is the shortest part of a description that is worth its room, in characters.
const least = 16

// Describe lists skills within a budget of characters: a line each, their names first of all, and
// then as much of each description as is the same for all. Names that have no room are counted.
// The list depends on nothing but the skills, which are in order.
func Describe(list []*Skill, budget int) string {
	if all, ok := lines(list, maxDescription+maxHint, budget); ok {
		return all
	}
	// The longest descriptions that fit; a search, as each length fits that is shorter than one
	// that does.
	low, high := 0, maxDescription+maxHint
	for low+1 < high {
		mid := (low + high) / 2
		if _, ok := lines(list, mid, budget); ok {
			low = mid
		} else {
			high = mid
		}
	}
	if low >= least {
		text, _ := lines(list, low, budget)
		return text
	}
	return names(list, budget)
}

// lines lists skills with descriptions of at most so many characters, and reports whether that
// keeps to the budget.
func lines(list []*Skill, most, budget int) (string, bool) {
	var b strings.Builder
	left := budget
	for _, s := range list {
		line := "- " + s.Name
		text := s.Description
		if s.Hint != "" {
			text += " (arguments: " + s.Hint + ")"
		}
		if text != "" && most > 0 {
			line += ": " + short(text, most)
		}
		if left -= utf8.RuneCountInString(line) + 1; left < 0 {
			return "", false
		}
		b.WriteString(line + "\n")
	}
	return b.String(), true
}

// names lists names alone, in one line.
func names(list []*Skill, budget int) string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = s.Name
	}
	text := strings.Join(all, ", ")
	if utf8.RuneCountInString(text) < budget {
		return text + "\n"
	}
	const more = len(", and 1000000 more\n")
	fits, left := 0, budget-more
	for _, name := range all {
		if left -= utf8.RuneCountInString(name) + 2; left < 0 {
			break
		}
		fits++
	}
	return fmt.Sprintf("%s, and %d more\n", strings.Join(slices.Clip(all[:fits]), ", "), len(all)-fits)
}
