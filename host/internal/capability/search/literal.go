package search

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/pairscan"
)

// maxNeedles bounds how many texts are looked for at once.
const maxNeedles = pairscan.MaxPairs

// needles are texts that are looked for together.
type needles []needle

// parsePlain reads a pattern that is nothing but texts set apart by "|"; nil for any
// other.
func parsePlain(text string, fold bool) needles {
	parts := [][]byte{nil}
	for i := 0; i < len(text); i++ {
		c := text[i]
		last := len(parts) - 1
		switch {
		case c == '|':
			parts = append(parts, nil)
		case c == '\\' && i+1 < len(text) && isEscaped(text[i+1]):
			i++
			parts[last] = append(parts[last], text[i])
		case c < ' ' && c != '\t' || strings.IndexByte(`\.+*?()[]{}^$`, c) >= 0:
			return nil
		default:
			parts[last] = append(parts[last], c)
		}
	}
	if len(parts) > maxNeedles || fold && !isASCII(text) {
		return nil
	}
	set := make(needles, len(parts))
	for i, part := range parts {
		var ok bool
		if set[i], ok = newNeedle(part, fold); !ok {
			return nil
		}
	}
	return set
}

// isEscaped reports whether a backslash before a byte means that byte. Before "<" and
// ">" it means a border of words.
func isEscaped(c byte) bool {
	return strings.IndexByte("!\"#$%&'()*+,-./:;=?@[\\]^_`{|}~", c) >= 0
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// literalSet makes needles of what every match holds one of; nil where there are
// none.
func literalSet(literals [][]byte, fold bool) needles {
	if len(literals) > maxNeedles {
		return nil
	}
	var set needles
	for _, l := range literals {
		n, ok := newNeedle(l, fold)
		if !ok || fold && !isASCII(string(l)) {
			return nil
		}
		set = append(set, n)
	}
	return set
}

// maxFolded is how long the texts are together, in bytes, that are looked for without
// case where there is an engine: they are compared wherever two of their bytes are, and
// with long ones of few letters that takes long.
const maxFolded = 256

// slow reports whether an engine for expressions is the better way in the worst case.
func (n needles) slow() bool {
	folded := 0
	for i := range n {
		if n[i].fold {
			folded += len(n[i].text)
		}
	}
	return folded > maxFolded
}

// The context is looked at after so many bytes, the fewer the longer the needles: each
// may be compared with all of that. It is milliseconds at most.
const (
	maxStep  = 1 << 20
	minStep  = 4 << 10
	stepWork = 4 << 20
)

// finder finds needles: by two rare bytes of each, which are compared first.
type finder struct {
	needles needles
	pairs   *pairscan.Set
	step    int // how many places are looked at in one go
	reach   int // how far behind its place a needle ends at most
}

// finder makes of needles what finds them; nil of none.
func (n needles) finder() *finder {
	if n == nil {
		return nil
	}
	f := &finder{needles: n}
	pairs, longest, all := make([]pairscan.Pair, len(n)), 0, 0
	for i := range n {
		pairs[i], longest = n[i].pair(), max(longest, len(n[i].text))
		all += len(n[i].text)
	}
	f.pairs = pairscan.New(pairs...)
	f.step = min(max(stepWork/all, minStep), maxStep)
	f.reach = 3 * longest // a letter that is not ASCII has up to three bytes
	return f
}

// next returns where the first of the needles is in text, at or behind from, or about
// where if it ignores case: on the same line, and not behind the end of it. It is -1 for
// nowhere, and an error that the context has ended.
func (f *finder) next(ctx context.Context, text []byte, from int) (int, error) {
	for {
		end := min(from+f.step+f.reach, len(text))
		if i := f.index(text[from:end]); i >= 0 {
			return from + i, nil
		}
		if end == len(text) {
			return -1, nil
		}
		if err := interrupted(ctx); err != nil {
			return -1, err
		}
		from += f.step
	}
}

// index is next in all of a short text.
func (f *finder) index(text []byte) int {
	for at := 0; ; at++ {
		i := f.pairs.Index(text[at:])
		if i < 0 {
			return -1
		}
		at += i
		for k := range f.needles {
			if f.needles[k].isAt(text, at) {
				return at
			}
		}
	}
}

// needle is one text, found by the two rarest of its bytes.
type needle struct {
	text []byte
	rare int // where its rarest byte is
	next int // and the one after that; the same where there is no other
	fold bool
}

// byFrequency are the bytes of source text, the most frequent first; counted in
// Go's own sources. Others are rarer.
const byFrequency = " et\t0r\nnaiso,xlcfdu1p./()2m:gh\"=4bS3_6TAE{y}Rv8O\\CI5PD9M7kXLVFwNB-[]U*GH!W+Y&<;zK%|'Q>qj$Z`#J^?@~"

var frequency = func() (rank [256]uint8) {
	for i := range len(byFrequency) {
		rank[byFrequency[i]] = uint8(255 - i)
	}
	return rank
}()

// newNeedle returns a needle, unless there is nothing in the text to look for.
func newNeedle(text []byte, fold bool) (needle, bool) {
	n := needle{text: text, rare: -1, next: -1, fold: fold}
	rank := func(i int) uint8 {
		c := text[i]
		if fold {
			return max(frequency[lower(c)], frequency[upper(c)])
		}
		return frequency[c]
	}
	for i, c := range text {
		switch {
		case fold && isFoldedBeyondASCII(c) || i > pairscan.MaxOffset:
		case n.rare < 0 || rank(i) < rank(n.rare):
			n.rare, n.next = i, n.rare
		case n.next < 0 || rank(i) < rank(n.next):
			n.next = i
		}
	}
	if fold {
		n.text = bytes.ToLower(text)
	}
	if n.next < 0 || n.fold && !n.isRigid() {
		n.next = n.rare
	}
	return n, n.rare >= 0
}

// pair is what the needle is found by: from its beginning or, if it ignores case, from
// the first of the two, since what is before may have more bytes than the text.
func (n *needle) pair() pairscan.Pair {
	from := 0
	if n.fold {
		from = min(n.rare, n.next)
	}
	return pairscan.Pair{
		First: n.text[n.rare], FirstAt: n.rare - from,
		Second: n.text[n.next], SecondAt: n.next - from,
		Fold: n.fold,
	}
}

// isAt reports whether the needle is where its pair was found.
func (n *needle) isAt(text []byte, place int) bool {
	if !n.fold {
		return bytes.HasPrefix(text[place:], n.text)
	}
	at := place + n.rare - min(n.rare, n.next)
	return at < len(text) && lower(text[at]) == n.text[n.rare] && n.isAround(text, at)
}
