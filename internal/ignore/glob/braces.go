package glob

// expand writes out the braces of a pattern. What stands in brackets or behind
// a backslash is left alone.
func expand(text string) ([]string, error) {
	out := []string{""}
	for pos := 0; pos < len(text); {
		n := unit(text, pos)
		if text[pos] != '{' {
			for i := range out {
				out[i] += text[pos : pos+n]
			}
			pos += n
			continue
		}
		alts, end, err := alternatives(text, pos)
		if err != nil {
			return nil, err
		}
		if len(out)*len(alts) > MaxAlternatives {
			return nil, errorf("the braces of pattern %.100q stand for more than %d patterns", text, MaxAlternatives)
		}
		next := make([]string, 0, len(out)*len(alts))
		for _, head := range out {
			for _, alt := range alts {
				next = append(next, head+alt)
			}
		}
		out, pos = next, end
	}
	return out, nil
}

// unit returns the length of what starts at pos and must stay together: an
// escape, a bracket expression, or a run without either.
func unit(text string, pos int) int {
	switch text[pos] {
	case '\\':
		return min(2, len(text)-pos)
	case '[':
		return bracket(text[pos:])
	}
	n := 1
	for pos+n < len(text) {
		switch text[pos+n] {
		case '\\', '[', '{', '}', ',':
			return n
		}
		n++
	}
	return n
}

// bracket returns the length of the bracket expression at the start of s, or 1
// where it is not closed.
func bracket(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); first = false {
		switch {
		case s[i] == ']' && !first:
			return i + 1
		case s[i] == '\\':
			i++
		}
		i++
	}
	return 1
}

// alternatives reads the braces that open at pos and returns what they stand
// for, and where they end.
func alternatives(text string, pos int) (alts []string, end int, err error) {
	depth, start := 0, pos+1
	var parts []string
	for i := pos; i < len(text); {
		switch text[i] {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		case '}':
			depth--
		}
		if depth == 0 {
			parts = append(parts, text[start:i])
			alts, err = expandAll(parts)
			return alts, i + 1, err
		}
		if depth > maxNesting {
			return nil, 0, errorf("the braces of pattern %.100q nest deeper than %d", text, maxNesting)
		}
		i += unit(text, i)
	}
	return nil, 0, errorf("the { at byte %d of pattern %.100q is not closed; write \\{ for the character", pos, text)
}

// maxNesting bounds the recursion over braces within braces.
const maxNesting = 16

func expandAll(parts []string) ([]string, error) {
	var out []string
	for _, p := range parts {
		alts, err := expand(p)
		if err != nil {
			return nil, err
		}
		if out = append(out, alts...); len(out) > MaxAlternatives {
			return nil, errorf("braces stand for more than %d patterns", MaxAlternatives)
		}
	}
	return out, nil
}
