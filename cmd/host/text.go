package main

import (
	"fmt"
	"strings"
)

func firstLine(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if more {
		first += " …"
	}
	return first
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// count is a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// formatsOf are the names of formats, in words.
func formatsOf[F ~string](formats []F) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
