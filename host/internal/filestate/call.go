package filestate

import (
	"bytes"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Call is the read state as one call sees it. What its result shows is kept back until
// the result has left whole, as only then the model has seen it: the call may be
// cancelled meanwhile, fail, or have its result cut, or replaced by a hook.
//
// What a call writes is known at once, whatever becomes of its result: it is on the
// disk, and it consists of the model's own words and of what the model has seen, so a
// later write over it loses nothing that the model does not know.
//
// The results of calls that a call makes are for that call. What they show and write is
// known to its other calls, and not to the model.
//
// A call is usable after [Call.Begin], and then safe for concurrent use except for
// Settle and Answered.
type Call struct {
	turn  *Turn
	index int
	shown observations
	// cut is true if the result lacks part of what the tool answered.
	cut bool
	// inner is for the calls that this one makes.
	inner Turn
	// own is what the call has read itself.
	own Files
}

var _ capability.Knowledge = (*Call)(nil)

// Begin makes it the call with an index in a turn.
func (c *Call) Begin(t *Turn, index int) {
	c.turn, c.index = t, index
	c.inner.files, c.inner.outer = t.files, t
}

// Inner is the turn of all calls that this one makes.
func (c *Call) Inner() *Turn { return &c.inner }

// Own is what the call has read itself, whether or not the model is shown it: see
// [capability.Scope].
func (c *Call) Own() capability.Knowledge { return &c.own }

// Seen implements [capability.Knowledge].
func (c *Call) Seen(path string) (capability.ReadState, bool) {
	return c.turn.files.seen(path, c.turn.of(path))
}

// Read reports whether a file was read, and whether it has changed since: its stamp is
// another one now, or there is none, as the file is gone.
func (c *Call) Read(path string, now *capability.Stamp) (read, changed bool) {
	stamp, read := c.turn.files.stamp(path, c.turn.of(path))
	return read, read && (now == nil || !stamp.Same(*now))
}

// Shown implements [capability.Knowledge].
func (c *Call) Shown(path, view string, seen capability.ReadState) {
	c.shown.addFirst(observation{path: path, view: view, state: seen, call: c.index})
	if c.turn.outer == nil {
		c.turn.files.watch(path, &seen.Stamp)
	}
}

// Again implements [capability.Knowledge]. Calls that a call makes were shown nothing
// before.
func (c *Call) Again(path, view string, stamp capability.Stamp) bool {
	return c.turn.outer == nil && c.turn.files.Again(path, view, stamp)
}

// Wrote implements [capability.Knowledge]. If the write relies on results of this turn,
// which may never arrive, the model knows until then only that it wrote the file.
func (c *Call) Wrote(path string, seen capability.ReadState) {
	c.shown.drop(path) // the file is no longer what was shown of it
	t := c.turn
	wrote := observation{path: path, state: seen, wrote: true, call: c.index}
	switch {
	case t.outer != nil:
		t.settle(wrote)
		if len(t.outermost().of(path)) == 0 {
			t.files.Rewrote(path, seen.Stamp)
		}
	case len(t.of(path)) == 0:
		t.files.Wrote(path, seen)
	default:
		t.files.Wrote(path, capability.ReadState{Stamp: seen.Stamp})
		t.settle(wrote)
	}
}

// Rewrote implements [capability.Knowledge].
func (c *Call) Rewrote(path string, stamp capability.Stamp) {
	c.shown.drop(path) // the file is no longer what was shown of it
	c.turn.files.Rewrote(path, stamp)
}

// Answered compares the content of the call's result with what it is to replace. If
// part of that is missing, nothing that the result shows counts as seen.
func (c *Call) Answered(content, before []abi.Block) {
	c.cut = c.cut || !contains(content, before)
}

// Settle has what the result shows count for the calls after this one. It is not to be
// called if the call failed, as the result may lack something then.
func (c *Call) Settle() {
	if list := c.shown.take(); len(list) > 0 && !c.cut {
		c.turn.settle(list...)
	}
}

// OutdatedHint tells the model which files have changed since it read them, now that
// the call has ended; empty if none has, or if the call's result is not for a model.
func (c *Call) OutdatedHint() string {
	if c.turn.outer != nil {
		return ""
	}
	return c.turn.files.OutdatedHint()
}

// contains reports whether a content has all non-empty blocks of another, unchanged.
func contains(content, all []abi.Block) bool {
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
