// Package pairscan finds where texts may begin, by two bytes of each. It is what a
// search for texts goes by before it compares them: where both bytes are at their
// places, it is worth to look at all. On amd64 with AVX2 it looks at 32 places at
// once, elsewhere at one.
//
// The way is that of the "packed pair" of Rust's memchr, and for several texts of its
// Teddy: the frequency of bytes decides which two of a text are taken.
package pairscan

import "bytes"

// MaxPairs is how many texts are looked for at once: each costs a pass over the block
// of text at hand, which is in a register then.
const MaxPairs = 8

// MaxOffset is how far from the beginning of a text its bytes may be.
const MaxOffset = 4095

// Pair is two bytes of a text, and where in it they are: at most [MaxOffset] from its
// beginning. They may be the same byte at the same place.
type Pair struct {
	First, Second     byte
	FirstAt, SecondAt int
	// Fold takes ASCII letters in either case.
	Fold bool
}

// Set is some pairs, ready to be looked for. It is safe for concurrent use.
type Set struct {
	pairs []wide
	reach int // how many bytes from a place on all pairs lie in
}

// wide is a pair as the vector instructions take it. Its layout is known to them.
type wide struct {
	first, second         [32]byte
	foldFirst, foldSecond [32]byte // what is set in a byte before it is compared
	firstAt, secondAt     int
}

// New returns a set of one to [MaxPairs] pairs. It panics for other numbers, and for
// places that are out of bounds: which text is looked for how, its caller decides.
func New(pairs ...Pair) *Set {
	if len(pairs) == 0 || len(pairs) > MaxPairs {
		panic("pairscan: there must be one to eight pairs")
	}
	s := &Set{pairs: make([]wide, len(pairs))}
	for i, p := range pairs {
		if min(p.FirstAt, p.SecondAt) < 0 || max(p.FirstAt, p.SecondAt) > MaxOffset {
			panic("pairscan: a byte is too far from the beginning of its text")
		}
		w := &s.pairs[i]
		w.firstAt, w.secondAt = p.FirstAt, p.SecondAt
		spread(&w.first, &w.foldFirst, p.First, p.Fold)
		spread(&w.second, &w.foldSecond, p.Second, p.Fold)
		s.reach = max(s.reach, p.FirstAt+1, p.SecondAt+1)
	}
	return s
}

// caseBit is what a small letter of ASCII has and the capital one has not.
const caseBit = 'a' - 'A'

// spread fills what a byte is compared with.
func spread(is, set *[32]byte, c byte, fold bool) {
	bit := byte(0)
	if lower := c | caseBit; fold && 'a' <= lower && lower <= 'z' {
		c, bit = lower, caseBit
	}
	for i := range is {
		is[i], set[i] = c, bit
	}
}

// Index returns the first place from which a pair lies in text as it should, or -1.
// What would lie beyond the end of text does not.
func (s *Set) Index(text []byte) int {
	done := 0
	if blocks := (len(text) - s.reach + 1) / lanes; blocks > 0 && accelerated {
		if i := scan(&text[0], blocks*lanes, &s.pairs[0], len(s.pairs)); i >= 0 {
			return i
		}
		done = blocks * lanes
	}
	return s.index(text, done)
}

const (
	// lanes is how many places are looked at at once.
	lanes = 32
	// minShare and maxShare are how many places are looked at for one pair before they
	// are for the next, twice as many each time: what is far behind the first of all is
	// not worth to know.
	minShare = 64
	maxShare = 1 << 10
)

// index is Index without vector instructions of its own, for places from one on.
func (s *Set) index(text []byte, from int) int {
	for share := minShare; from < len(text); share = min(2*share, maxShare) {
		end := min(from+share, len(text))
		first := end
		for i := range s.pairs {
			first = s.pairs[i].index(text, from, first)
		}
		if first < end {
			return first
		}
		from = end
	}
	return -1
}

// index returns the first place of the pair that is not before from and before to; to
// if there is none.
func (w *wide) index(text []byte, from, to int) int {
	end := min(to, len(text)-max(w.firstAt, w.secondAt))
	to = w.seek(text, from, end, to, w.first[0])
	if bit := w.foldFirst[0]; bit != 0 {
		to = w.seek(text, from, min(end, to), to, w.first[0]&^bit)
	}
	return to
}

// seek looks for a first byte, and returns the first place where the second is at its
// own; none if there is none before end.
func (w *wide) seek(text []byte, from, end, none int, first byte) int {
	for from < end {
		i := bytes.IndexByte(text[from+w.firstAt:end+w.firstAt], first)
		if i < 0 {
			break
		}
		if from += i; text[from+w.secondAt]|w.foldSecond[0] == w.second[0] {
			return from
		}
		from++
	}
	return none
}
