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

func pad(s string, width int) string {
	for len(s) < width {
		s += " "
	}
	return s
}

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
	var list strings.Builder
	for i, f := range formats {
		switch {
		case i == len(formats)-1:
			list.WriteString(" or ")
		case i > 0:
			list.WriteString(", ")
		}
		list.WriteString(string(f))
	}
	return list.String()
}
