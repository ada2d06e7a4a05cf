package shell

import "strconv"

// maxBraces is how many words one may become by its braces.
const maxBraces = 256

// maxGroups is how many groups of braces a word may have: each of a real one
// doubles it.
const maxGroups = 16

// braces expands {a,b} and {1..3}, as bash does before all else. It reports
// false where the braces are not plain: unbalanced ones are read by rules of
// bash's own.
func (l *letters) braces() ([]letters, bool) {
	depth, groups, special, balanced := 0, 0, false, true
	for i, c := range l.text {
		if l.mark[i] != markPlain {
			continue
		}
		switch c {
		case '{':
			depth++
			groups++
		case '}':
			balanced = balanced && depth > 0
			depth = max(depth-1, 0)
		case ',':
			special = special || groups > 0
		case '.':
			special = special || groups > 0 && i > 0 && l.plain(i-1, '.')
		}
	}
	switch {
	case !special:
		return []letters{*l}, true
	case depth != 0 || !balanced || groups > maxGroups:
		return nil, false
	}
	budget := maxBraces
	return l.expand(&budget)
}

// expand expands the first group that is one, then what follows.
func (l *letters) expand(budget *int) ([]letters, bool) {
	for i := range l.text {
		if !l.plain(i, '{') {
			continue
		}
		end, cuts := l.group(i)
		inner, ok := l.alternatives(i, end, cuts)
		if !ok || inner == nil {
			return nil, false // to bash such a group may end later
		}
		rest := l.cut(end+1, len(l.text))
		tails, ok := rest.expand(budget)
		if !ok {
			return nil, false
		}
		return l.join(i, inner, tails, budget)
	}
	if *budget--; *budget < 0 {
		return nil, false
	}
	return []letters{*l}, true
}

// join puts every alternative between what is before the group and every tail.
func (l *letters) join(at int, inner, tails []letters, budget *int) ([]letters, bool) {
	var out []letters
	for i := range inner {
		mids, ok := inner[i].expand(budget)
		if !ok {
			return nil, false
		}
		for m := range mids {
			for t := range tails {
				if len(out) == maxBraces {
					return nil, false
				}
				one := l.cut(0, at)
				one.append(&mids[m])
				one.append(&tails[t])
				out = append(out, one)
			}
		}
	}
	return out, true
}

// group finds the end of the group that starts at i, and its own commas.
func (l *letters) group(i int) (end int, cuts []int) {
	depth := 0
	for j := i; ; j++ {
		switch {
		case l.plain(j, '{'):
			depth++
		case l.plain(j, '}'):
			if depth--; depth == 0 {
				return j, cuts
			}
		case l.plain(j, ',') && depth == 1:
			cuts = append(cuts, j)
		}
	}
}

// alternatives are what a group stands for; nil if it stands for itself.
func (l *letters) alternatives(start, end int, cuts []int) ([]letters, bool) {
	if len(cuts) == 0 {
		return l.sequence(start+1, end)
	}
	out := make([]letters, 0, len(cuts)+1)
	from := start + 1
	for _, cut := range append(cuts, end) {
		out = append(out, l.cut(from, cut))
		from = cut + 1
	}
	return out, true
}

// sequence expands 1..3 and a..c. What else has two dots is refused: steps,
// leading zeros and quotes have rules of their own.
func (l *letters) sequence(from, to int) ([]letters, bool) {
	dots := -1
	for i := from; i+1 < to; i++ {
		if l.plain(i, '.') && l.plain(i+1, '.') {
			dots = i
			break
		}
	}
	if dots < 0 {
		return nil, true
	}
	first, last := string(l.text[from:dots]), string(l.text[dots+2:to])
	lo, ok := sequenceEnd(first)
	hi, ok2 := sequenceEnd(last)
	if !ok || !ok2 || isNumber(first) != isNumber(last) || max(lo, hi)-min(lo, hi) >= maxBraces {
		return nil, false
	}
	step := 1
	if hi < lo {
		step = -1
	}
	var out []letters
	for n := lo; ; n += step {
		var one letters
		if isNumber(first) {
			one.add(strconv.Itoa(n), markPlain)
		} else {
			one.add(string(rune(n)), markPlain)
		}
		if out = append(out, one); n == hi {
			return out, true
		}
	}
}

func sequenceEnd(s string) (int, bool) {
	if len(s) == 1 && (s[0] >= 'a' && s[0] <= 'z') {
		return int(s[0]), true
	}
	if !isNumber(s) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func (l *letters) cut(from, to int) letters {
	return letters{
		text:   append([]byte(nil), l.text[from:to]...),
		mark:   append([]byte(nil), l.mark[from:to]...),
		quoted: l.quoted, home: l.home, given: l.given, several: l.several, wild: l.wild,
	}
}

func (l *letters) append(m *letters) {
	l.text, l.mark = append(l.text, m.text...), append(l.mark, m.mark...)
}
