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
func (k *Keeper) wholeOf(r *abi.ToolResult) whole {
	w := whole{id: idOf(r)}
	if r.IsError {
		w.add(1)
	}
	for i := range r.Content {
		b := &r.Content[i]
		for _, text := range [...]string{string(b.Type), b.Text, b.MediaType, b.Title, b.ToolName} {
			w.add(maphash.String(k.seed, text))
		}
		w.add(maphash.Bytes(k.seed, b.Data))
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
func (k *Keeper) leave(r *abi.ToolResult) {
	w := k.wholeOf(r)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wholes[w] = true
}

// left reports whether a turn left a result whole.
func (k *Keeper) left(r *abi.ToolResult) bool {
	if len(spilled(r.Content)) > 0 {
		return false
	}
	w := k.wholeOf(r)
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.wholes[w]
}

// leaveAll leaves the results of a turn whole, and reports whether it could: there is
// nothing to be done about them, now or because of what was done before.
func (k *Keeper) leaveAll(rs []abi.ToolResult, of []*Fitted) bool {
	if k.options.Duplicates || !k.within(k.turnLimit(), rs...) {
		return false
	}
	for i := range rs {
		if f := fittedOf(of, i); f != nil && f.Stored != nil || k.known(&rs[i]) || len(spilled(rs[i].Content)) > 0 {
			return false
		}
	}
	for i := range rs {
		if k.worth(&rs[i], fittedOf(of, i)) {
			k.leave(&rs[i])
		}
	}
	return true
}

// worth reports whether a result is worth a thought: others are too short for it.
func (k *Keeper) worth(r *abi.ToolResult, f *Fitted) bool {
	return f != nil || k.known(r) || !k.small(r.Content, Unlimited)
}

// fittedOf is what Fit did with a result of a turn, or nil.
func fittedOf(of []*Fitted, i int) *Fitted {
	if i >= len(of) {
		return nil
	}
	return of[i]
}

// turnLimit is what the results of one turn may count together.
func (k *Keeper) turnLimit() int {
	return orDefault(k.options.MaxTurnChars, DefaultMaxTurnChars)
}
