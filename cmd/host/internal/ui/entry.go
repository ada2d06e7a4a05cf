package ui

import (
	"slices"
	"time"

	"github.com/toolquay/toolquay/host"
)

// callKey tells calls apart. Ids alone do not: a call that is refused because of
// its id has the same one as another.
type callKey struct {
	parent, id   string
	depth, index int
}

// makerKey is what a call knows of the one that made it.
type makerKey struct {
	id    string
	depth int
}

func (k callKey) maker() makerKey { return makerKey{k.id, k.depth} }

func keyOf(e *host.Event) callKey { return callKey{e.Parent, e.CallID, e.Depth, e.Index} }

// phase is where a call is on its way.
type phase int

const (
	queued phase = iota
	running
	ended
)

// entry is one call. Its texts are safe and bounded.
type entry struct {
	callKey
	naming
	outcome

	parent *entry
	inner  []*entry

	phase phase
	// since is when it was queued, or from then on when it started, and until when
	// it ended.
	since, until time.Time
	// asking is since when a person is asked, or zero.
	asking   time.Time
	progress progress
	log      Tail
}

// naming is what people are told that a call does.
type naming struct {
	tool     string // what people call it
	title    string
	activity string
	blocks   bool // it is not interrupted
}

// outcome is what became of a call.
type outcome struct {
	state   state
	unbegun bool // it ended before it was started
	elapsed time.Duration
	bytes   int64
	came    string // what came of it, in the tool's words
	kept    string // where the whole result lies
	why     string // it did not end well
}

// callTree is the calls that are not printed yet.
type callTree struct {
	// calls are all of them. makers are the same ones by what the events of the calls that they
	// make say: the ID and the depth. roots are the outermost, in the order they came.
	calls  map[callKey]*entry
	makers map[makerKey]*entry
	roots  []*entry
	// over counts the roots that ended and are still in the list.
	over int
}

// add puts a call below the one that made it, if that is still there, and in place of
// another call by the same key.
func (t *callTree) add(c *entry) {
	if c.parent = t.maker(c); c.parent == nil {
		t.roots = append(t.roots, c)
	} else {
		c.parent.inner = append(c.parent.inner, c)
	}
	t.calls[c.callKey], t.makers[c.callKey.maker()] = c, c
}

// maker is the call that made another one, or nil.
func (t *callTree) maker(c *entry) *entry {
	p := t.makers[makerKey{c.callKey.parent, c.depth - 1}]
	if c.depth <= 0 || p == nil || p.phase == ended {
		return nil
	}
	return p
}

// drop forgets a call and what it made. What of that still goes on stays.
func (t *callTree) drop(c *entry) {
	if t.calls[c.callKey] == c {
		delete(t.calls, c.callKey)
	}
	if key := c.callKey.maker(); t.makers[key] == c {
		delete(t.makers, key)
	}
	if c.parent == nil {
		t.dropRoot()
	}
	for _, in := range c.inner {
		if in.phase == ended {
			t.drop(in)
			continue
		}
		in.parent = nil
		t.roots = append(t.roots, in)
	}
}

// dropRoot counts a root that ended. When half of the list has ended it removes those, so
// that the cost of each does not grow with their number.
func (t *callTree) dropRoot() {
	if t.over++; 2*t.over > len(t.roots) {
		t.roots = slices.DeleteFunc(t.roots, func(r *entry) bool { return r.phase == ended })
		t.over = 0
	}
}
