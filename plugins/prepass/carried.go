package prepass

import (
	"math/bits"
	"slices"
)

const (
	// maxCarried is the number of locals of a loop that are refreshed: what goes
	// beyond is not held in registers anyway.
	maxCarried = 24
	// maxCarryNesting is the number of nested loops up to which locals are
	// followed.
	maxCarryNesting = 64
)

// loop is a loop around the instruction being scanned.
type loop struct {
	start   int
	carried []local
}

// access is what has happened to a local in the loops around. Bits count loops
// from the outermost.
type access struct {
	// at is where the instruction ends that last read or set the local.
	at int
	// read has a bit for each loop whose first access to the local reads it, and
	// known for those of them that have it on their list.
	read, known uint64
}

// group is a run of locals of one type that ends before the index end.
type group struct {
	end     int
	valType byte
}

func (s *scanner) enterLoop(at int) {
	if n := len(s.loops); n < cap(s.loops) {
		s.loops = s.loops[:n+1]
		s.loops[n].start, s.loops[n].carried = at, s.loops[n].carried[:0]
		return
	}
	s.loops = append(s.loops, loop{start: at})
}

func (s *scanner) leaveLoop() {
	l := &s.loops[len(s.loops)-1]
	s.loops = s.loops[:len(s.loops)-1]
	head := &s.c.chunks[s.owners[len(s.owners)-1].head]
	head.carried, head.carries = uint32(len(s.c.carried)), uint8(len(l.carried))
	s.c.carried = append(s.c.carried, l.carried...)
}

// access notes that a local is read or set. A local goes round a loop if the loop
// reads it before it sets it, in the order of the text, which is close enough.
func (s *scanner) access(i uint32, at int, set bool) {
	if int(i) >= len(s.seen) {
		s.seen = append(s.seen, make([]access, s.b.locals-len(s.seen))...)
	}
	a := &s.seen[i]
	// What is known of loops that began after the last access is about others,
	// which have ended.
	n := len(s.loops)
	old := n
	for old > 0 && s.loops[old-1].start >= a.at {
		old--
	}
	valid := uint64(1)<<old - 1
	a.read, a.known = a.read&valid, a.known&valid
	if !set {
		a.read |= (uint64(1)<<n - 1) &^ valid
	}
	a.at = at
	if set && a.read != a.known {
		s.carry(i, a)
	}
}

// carry puts a local on the lists of the loops that it goes round.
func (s *scanner) carry(i uint32, a *access) {
	for fresh := a.read &^ a.known; fresh != 0; fresh &= fresh - 1 {
		l := &s.loops[bits.TrailingZeros64(fresh)]
		if len(l.carried) < maxCarried {
			l.carried = append(l.carried, local{i, s.localType(i)})
		}
	}
	a.known = a.read
}

func (s *scanner) localType(i uint32) byte {
	if int(i) < len(s.params) {
		return s.params[i]
	}
	n, _ := slices.BinarySearchFunc(s.groups, int(i), func(g group, i int) int {
		if g.end <= i {
			return -1
		}
		return 1
	})
	return s.groups[n].valType
}
