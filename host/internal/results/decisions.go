package results

import (
	"hash/maphash"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// decisions are what became of a session's results. They are safe for concurrent use.
type decisions struct {
	mu sync.Mutex
	// decided is what became of results, and ids are those they have.
	decided map[key]outcome
	ids     map[string]bool
	// previews are what Fit put in the place of results.
	previews map[key]bool
	// wholes are the results that turns left as they are, by fingerprints with seed.
	// Those that another process is to know are decided, too.
	wholes map[whole]bool
	seed   maphash.Seed
}

func newDecisions() *decisions {
	return &decisions{
		decided: make(map[key]outcome), ids: make(map[string]bool), previews: make(map[key]bool),
		wholes: make(map[whole]bool), seed: maphash.MakeSeed(),
	}
}

// maxChain is how often a result is replaced at most: by its tool's limit, and by
// its turn's.
const maxChain = 2

// again does to a result what was done before to the same one. What it is then is
// decided for ever.
func (d *decisions) again(r *abi.ToolResult) (o outcome, changed bool) {
	for range maxChain {
		next, known := d.outcome(keyOf(r))
		if !known || next.Text == nil {
			break
		}
		o, changed = next, true
		o.apply(r)
	}
	return o, changed
}

// note writes down what became of a result.
func (d *decisions) note(id key, o outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decided[id] = o
	d.ids[id.ID] = true
}

// shows writes down that a result is a preview, and shown reports that.
func (d *decisions) shows(id key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.previews[id] = true
}

func (d *decisions) shown(id key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.previews[id]
}

// known reports whether anything was decided about results with the id of this one.
func (d *decisions) known(r *abi.ToolResult) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ids) > 0 && d.ids[idOf(r)]
}

func (d *decisions) outcome(id key) (outcome, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, ok := d.decided[id]
	return o, ok
}

// leave has a result, of which nothing is spilled, stay whole in all later turns of
// this process.
func (d *decisions) leave(r *abi.ToolResult) {
	w := wholeOf(d.seed, r)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wholes[w] = true
}

// left reports whether a turn left a result whole.
func (d *decisions) left(r *abi.ToolResult) bool {
	if len(spilled(r.Content)) > 0 {
		return false
	}
	w := wholeOf(d.seed, r)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wholes[w]
}
