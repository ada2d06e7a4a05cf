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
func wholeOf(seed maphash.Seed, r *abi.ToolResult) whole {
	w := whole{id: idOf(r)}
	if r.IsError {
		w.add(1)
	}
	for i := range r.Content {
		b := &r.Content[i]
		for _, text := range [...]string{string(b.Type), b.Text, b.MediaType, b.Title, b.ToolName} {
			w.add(maphash.String(seed, text))
		}
		w.add(maphash.Bytes(seed, b.Data))
	}
	return w
}

// add mixes the hash of the next field in.
func (w *whole) add(hash uint64) {
	const odd = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio, which spreads
	w.print = (w.print ^ hash) * odd
	w.print ^= w.print >> 32
}
