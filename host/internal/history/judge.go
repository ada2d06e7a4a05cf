package history

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// A log says what writers were about to do; what they did must be found out, since a
// writer may be killed at any moment. The order of records is that of the writes which
// were done, as a write looks at its file before it is recorded and is refused where the
// file changed since that look. But between the two another one may be done: a record
// may tell of what the file was before the write of the record above it.
//
// So all ways are compared in which some of the writes were done and others not, and
// those are gone by that need the fewest changes by something else.

// What a way of things costs: any number of late records is less than one change.
const (
	// lateRecord is that of a writer that looked, saw another one overtake it, and was
	// killed before it could take its record back.
	lateRecord = 1
	// otherChange is that of a change that no record tells of.
	otherChange = 1 << 20
)

// overtaken is by how many writes a record may be late, to be taken for such.
const overtaken = 4

// maxBeliefs bounds how many beliefs are followed at once, the cheapest ones: a file that
// something else changes again and again would else cost the square of its writes.
const maxBeliefs = 32

// belief is what a file may be between two records: the number of what it holds, and
// those of what it held before the last writes, the last one first, as far as nothing
// else changed it since. 0 is not known.
type belief struct {
	now int32
	was [overtaken]int32
}

// told is a record with its contents numbered.
type told struct {
	before, after int32
	// seen says that the change is known to be done, as a command's is: its record was made afterwards.
	seen bool
}

// numbered numbers all contents of a chain, the file's as well, from 1 on.
func (c *chain) numbered() (records []told, now int32) {
	numbers := make(map[string]int32)
	number := func(c *Content) int32 {
		name := c.Key()
		if numbers[name] == 0 {
			numbers[name] = int32(len(numbers) + 1) //nolint:gosec // no log has so many lines
		}
		return numbers[name]
	}
	for i := range c.writes {
		r := &c.writes[i]
		records = append(records, told{number(r.Before), number(r.After), r.Kind == KindCommand})
	}
	return records, number(c.now)
}

// move is one way in which a record follows from a belief.
type move struct {
	done bool
	to   belief
	cost int
}

// moves are the ways in which a record can be true.
func (b belief) moves(r told) []move {
	if b.now == 0 {
		b.now = r.before
	}
	done := belief{now: r.after}
	done.was[0] = r.before
	if b.now == r.before {
		copy(done.was[1:], b.was[:])
		if r.seen {
			return []move{{true, done, 0}}
		}
		return []move{{true, done, 0}, {false, b, 0}}
	}
	if r.seen {
		return []move{{true, done, otherChange}}
	}
	late := lateRecord
	if !slices.Contains(b.was[:], r.before) {
		late += otherChange // many overtook it, or something changed it there and back
	}
	return []move{{true, done, otherChange}, {false, belief{now: r.before}, otherChange}, {false, b, late}}
}

// fates tells of each write of a chain what became of it.
func (c *chain) fates() []State {
	records, now := c.numbered()
	costs := costsOf(records)
	left := make(map[belief]int) // what the way from a belief to the end costs
	for b := range costs[len(records)] {
		left[b] = 0
		if c.fault == nil && b.now != now {
			left[b] = otherChange
		}
	}
	out := make([]State, len(records))
	for i := len(records) - 1; i >= 0; i-- {
		left, out[i] = step(costs[i], records[i], left)
	}
	return out
}

// costsOf is what the cheapest way to each belief costs, before each record and at the
// end.
func costsOf(records []told) []map[belief]int {
	costs := []map[belief]int{{belief{}: 0}}
	for i, r := range records {
		next := make(map[belief]int)
		for b, cost := range costs[i] {
			for _, m := range b.moves(r) {
				if known, ok := next[m.to]; !ok || cost+m.cost < known {
					next[m.to] = cost + m.cost
				}
			}
		}
		bound(next)
		costs = append(costs, next)
	}
	return costs
}

// bound lets go of the beliefs that cost most, where there are too many.
func bound(costs map[belief]int) {
	if len(costs) <= maxBeliefs {
		return
	}
	list := slices.SortedFunc(maps.Keys(costs), func(a, b belief) int {
		return cmp.Or(cmp.Compare(costs[a], costs[b]), cmp.Compare(a.now, b.now), slices.Compare(a.was[:], b.was[:]))
	})
	for _, b := range list[maxBeliefs:] {
		delete(costs, b)
	}
}

// step goes back over a record: from what the way from each belief behind it costs to
// that of each before it, and what the cheapest ways make of the record.
func step(costs map[belief]int, r told, behind map[belief]int) (map[belief]int, State) {
	before := make(map[belief]int, len(costs))
	done, not := math.MaxInt, math.MaxInt
	for b, cost := range costs {
		for _, m := range b.moves(r) {
			left, ok := behind[m.to]
			if !ok {
				continue // it was let go of
			}
			left += m.cost
			if known, ok := before[b]; !ok || left < known {
				before[b] = left
			}
			if m.done {
				done = min(done, cost+left)
			} else {
				not = min(not, cost+left)
			}
		}
	}
	margin := lateRecord
	if min(done, not) >= otherChange {
		margin = otherChange // a late record is no better an explanation than a change
	}
	switch {
	case done < not:
		return before, StateDone
	case done-not >= margin:
		return before, StateNotDone
	}
	return before, StateChanged
}
