package search

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// oneLine changes an expression so that it never matches a newline, and so that
// the ends of the text are those of the line.
func oneLine(re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags &^= syntax.WasDollar
	case syntax.OpCharClass:
		re.Rune = withoutNewline(re.Rune)
		if len(re.Rune) == 0 {
			re.Op = syntax.OpNoMatch
		}
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return invalid("the pattern holds a newline, which no single line does; set multiline")
		}
	}
	for _, sub := range re.Sub {
		if err := oneLine(sub); err != nil {
			return err
		}
	}
	return nil
}

// spans reports whether a match may hold a newline, or depends on where the
// whole text begins and ends.
func spans(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for pair := range slices.Chunk(re.Rune, 2) {
			if pair[0] <= '\n' && pair[1] >= '\n' {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, spans)
}

// withoutNewline takes LF out of a class, a list of pairs.
func withoutNewline(class []rune) []rune {
	out := make([]rune, 0, len(class)+2)
	for pair := range slices.Chunk(class, 2) {
		lo, hi := pair[0], pair[1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

// required returns the longest text that every match holds, and whether it is
// all of the expression.
func required(re *syntax.Regexp) (text string, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, utf8.RuneError) {
			return "", false
		}
		return string(re.Rune), true
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		text, _ = required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			text, _ = required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if s, _ := required(sub); len(s) > len(text) {
				text = s
			}
		}
	}
	return text, false
}
