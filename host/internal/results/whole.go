package results

import (
	"hash/maphash"

	"github.com/toolquay/toolquay/abi"
)

// whole is a result that a turn left as it is. Nearly all are, so it is told apart by
// what is quick: a fingerprint that means nothing to other processes.
type whole struct {
	id    string
	print uint64
}

// wholeOf fingerprints what a model sees of a result. The content has nothing spilled.
func (s *Store) wholeOf(r *abi.ToolResult) whole {
	w := whole{id: idOf(r)}
	if r.IsError {
		w.add(1)
	}
	for i := range r.Content {
		b := &r.Content[i]
		for _, text := range [...]string{string(b.Type), b.Text, b.MediaType, b.Title, b.ToolName} {
			w.add(maphash.String(s.seed, text))
		}
		w.add(maphash.Bytes(s.seed, b.Data))
	}
	return w
}

// add mixes the hash of the next field in.
func (w *whole) add(hash uint64) {
	const odd = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio, which spreads
	w.print = (w.print ^ hash) * odd
	w.print ^= w.print >> 32
}

// leave has a result, of which nothing is spilled, stay whole in all later turns of
// this process.
func (s *Store) leave(r *abi.ToolResult) {
	w := s.wholeOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wholes[w] = true
}

// left reports whether a turn left a result whole.
func (s *Store) left(r *abi.ToolResult) bool {
	if len(spilled(r.Content)) > 0 {
		return false
	}
	w := s.wholeOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wholes[w]
}

// leaveAll leaves the results of a turn whole, and reports whether it could: there is
// nothing to be done about them, now or because of what was done before.
func (s *Store) leaveAll(rs []abi.ToolResult, of []*Fitted) bool {
	if s.options.Duplicates || !s.within(s.turnLimit(), rs...) {
		return false
	}
	for i := range rs {
		if f := fittedOf(of, i); f != nil && f.Stored != nil || s.known(&rs[i]) || len(spilled(rs[i].Content)) > 0 {
			return false
		}
	}
	for i := range rs {
		if s.worth(&rs[i], fittedOf(of, i)) {
			s.leave(&rs[i])
		}
	}
	return true
}

// worth reports whether a result is worth a thought: others are too short for it.
func (s *Store) worth(r *abi.ToolResult, f *Fitted) bool {
	return f != nil || s.known(r) || !s.small(r.Content, Unlimited)
}

// fittedOf is what Fit did with a result of a turn, or nil.
func fittedOf(of []*Fitted, i int) *Fitted {
	if i >= len(of) {
		return nil
	}
	return of[i]
}

// turnLimit is what the results of one turn may count together.
func (s *Store) turnLimit() int {
	return orDefault(s.options.MaxTurnChars, DefaultMaxTurnChars)
}
