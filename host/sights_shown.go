package host

import (
	"bytes"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/capability/workspace"
)

// glance is something of a file that a result shows, or that a call wrote. It counts
// for the session's model once that result has reached it.
type glance struct {
	path, view string
	sight      capability.Sight
	// wrote says that it is what is known after a write.
	wrote bool
	// call is the place in its turn of the call whose result shows it.
	call int
}

// glances are those of a call, or of a turn, in order. The zero value is none.
type glances struct {
	mu   sync.Mutex
	list []glance
}

// add adds glances. Those that are too many are let go of, and count for nobody.
func (g *glances) add(more ...glance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, more[:min(len(more), max(0, maxFiles-len(g.list)))]...)
}

// addNewest adds glances, and lets go of the oldest where they are too many.
func (g *glances) addNewest(more ...glance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, more...)
	g.list = slices.Delete(g.list, 0, max(0, len(g.list)-maxFiles))
}

// of appends those of a file.
func (g *glances) of(path string, to []glance) []glance {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.list {
		if g.list[i].path == path {
			to = append(to, g.list[i])
		}
	}
	return to
}

// take takes all out.
func (g *glances) take() []glance {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.list
	g.list = nil
	return list
}

// drop takes those of a file out.
func (g *glances) drop(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = slices.DeleteFunc(g.list, func(one glance) bool { return one.path == path })
}

// onlooker is a call, as [capability.Knowledge]. What it is shown is kept until its
// result has left whole, as only then the model has seen it: the call may be cancelled
// meanwhile, fail, or have its result replaced by a hook or cut. Later calls of the turn
// may build on it as soon as the call is settled, for which the model wrote them; the
// session takes it over when the turn ends, if it has arrived.
//
// What a call wrote is known at once, whatever becomes of its result: the disk has it,
// and it is made of the model's own words and of what the model has seen, so that a
// later write over it loses nothing that the model does not know.
//
// The results of calls that a call makes are for that call. What they show and write is
// known to its other calls, and not to the model.
type onlooker call

var _ capability.Knowledge = (*onlooker)(nil)

// Seen is as [capability.Knowledge] has it.
func (o *onlooker) Seen(path string) (capability.Sight, bool) {
	return o.turn.session.sights.seen(path, o.turn.glancesOf(path))
}

// Shown is as [capability.Knowledge] has it.
func (o *onlooker) Shown(path, view string, seen capability.Sight) {
	o.glances.add(glance{path: path, view: view, sight: seen, call: o.index})
	if o.turn.within == nil {
		o.turn.session.sights.watch(path, &seen.Stamp)
	}
}

// Again is as [capability.Knowledge] has it. A call that is made by a call was shown
// nothing before.
func (o *onlooker) Again(path, view string, stamp capability.Stamp) bool {
	return o.turn.within == nil && o.turn.session.sights.Again(path, view, stamp)
}

// Wrote is as [capability.Knowledge] has it. Where the write stands on what results of
// this turn show, which may never arrive, the model is to know no more until they
// have than that it wrote the file.
func (o *onlooker) Wrote(path string, seen capability.Sight) {
	o.glances.drop(path) // what was shown of it is no longer so
	t := o.turn
	wrote := glance{path: path, sight: seen, wrote: true, call: o.index}
	switch {
	case t.within != nil:
		t.within.learned.addNewest(wrote)
		if len(t.outermost().shown.of(path, nil)) == 0 {
			t.session.sights.rewritten(path, &seen.Stamp)
		}
	case len(t.shown.of(path, nil)) == 0:
		t.session.sights.Wrote(path, seen)
	default:
		t.session.sights.Wrote(path, capability.Sight{Stamp: seen.Stamp})
		t.shown.add(wrote)
	}
}

// Rewrote is as [capability.Knowledge] has it.
func (o *onlooker) Rewrote(path string, stamp capability.Stamp) {
	o.glances.drop(path) // what was shown of it is no longer so
	o.turn.session.sights.rewritten(path, &stamp)
}

// glancesOf are what calls of the turn may know of a file beyond what its session does:
// what those before them have shown.
func (t *turn) glancesOf(path string) []glance {
	if t.within == nil {
		return t.shown.of(path, nil)
	}
	return t.within.learned.of(path, t.within.turn.glancesOf(path))
}

// settleGlances has what the call's result shows count for the calls after it. What is
// missing in the result does not, nor does what a failure may have left out.
func (c *call) settleGlances() {
	switch list := c.glances.take(); {
	case len(list) == 0 || c.incomplete:
	case c.turn.within != nil:
		c.turn.within.learned.addNewest(list...)
	default:
		c.turn.shown.add(list...)
	}
}

// learnFiles has the session know what the results of the turn have shown of files. It
// leaves out those that did not reach the model as they were, and what was known after
// writes that stood on them.
func (t *turn) learnFiles(replaced []int) {
	list := t.shown.take()
	if len(list) == 0 {
		return
	}
	lost := make(map[string]bool)
	for _, g := range list {
		switch {
		case g.wrote:
			if !lost[g.path] {
				t.session.sights.Wrote(g.path, g.sight)
			}
		case slices.Contains(replaced, g.call) || t.feed != nil && !t.feed.arrived(g.call):
			lost[g.path] = true
		default:
			t.session.sights.Shown(g.path, g.view, g.sight)
		}
	}
}

// seen is what is known of a file, and of what is more than the session knows.
func (s *seenFiles) seen(path string, more []glance) (capability.Sight, bool) {
	if len(more) == 0 {
		return s.Seen(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var f seenFile
	if known := s.files[path]; known != nil {
		f = *known
		f.ranges = slices.Clone(f.ranges)
	}
	for i := range more {
		at := s.uses + 1 + uint64(i)
		if more[i].wrote {
			f.begin(more[i].sight.Stamp)
			f.add(more[i].sight.Ranges, at, true)
			continue
		}
		f.look(&more[i].sight, at, more[i].view != "")
	}
	return f.sight(), f.shown
}

// know fills in what is known of a path that a call names. That a file changed is told
// by what costs no reading.
func (c *call) know(fact *abi.Fact, node *workspace.Overlaid) {
	more := c.turn.glancesOf(node.Real)
	if len(more) == 0 {
		c.session().sights.know(fact, node)
		return
	}
	if seen, ok := c.session().sights.seen(node.Real, more); ok {
		fact.Read, fact.Changed = true, !fact.Exists || !seen.Stamp.Same(node.Info.Stamp())
	}
}

// holds reports whether a content has all blocks of another one that say anything, as
// they were.
func holds(content, all []abi.Block) bool {
	for i := range all {
		b := &all[i]
		if b.Type == abi.BlockText && b.Text == "" && b.Spilled == nil {
			continue
		}
		if !slices.ContainsFunc(content, func(c abi.Block) bool {
			return c.Type == b.Type && c.Text == b.Text && c.Spilled == b.Spilled && bytes.Equal(c.Data, b.Data)
		}) {
			return false
		}
	}
	return true
}
