package filestate

// Turn collects what the results of a model's turn show of files, or those of the calls
// that one call makes. Later calls of the turn may rely on it at once, since the model
// wrote them; the session takes it over when the turn ends.
type Turn struct {
	files *Files
	// outer is the turn of the call that makes this turn's calls; nil for a model's turn.
	outer *Turn
	shown observations
}

// Begin begins a turn of a model. It is called once, on the zero value.
func (t *Turn) Begin(files *Files) { t.files = files }

// End has the session take over what the results of a model's turn show. Arrived
// reports whether the result of the call with an index reached the model unchanged;
// what other results show is dropped, and so is what was known after writes that
// relied on it. It does nothing for the calls of a call, whose results no model sees.
func (t *Turn) End(arrived func(call int) bool) {
	if t.outer != nil {
		return
	}
	list := t.shown.take()
	if len(list) == 0 {
		return
	}
	lost := make(map[string]bool)
	for _, o := range list {
		switch {
		case o.wrote:
			if !lost[o.path] {
				t.files.Wrote(o.path, o.state)
			}
		case !arrived(o.call):
			lost[o.path] = true
		default:
			t.files.Shown(o.path, o.view, o.state)
		}
	}
}

// of returns what calls of the turn may know of a file beyond what the session knows.
func (t *Turn) of(path string) []observation {
	if t.outer == nil {
		return t.shown.of(path, nil)
	}
	return t.shown.of(path, t.outer.of(path))
}

// settle has observations of a call count for the calls after it.
func (t *Turn) settle(list ...observation) {
	if t.outer != nil {
		t.shown.addLast(list...)
		return
	}
	t.shown.addFirst(list...)
}

// outermost is the model's turn that this one belongs to.
func (t *Turn) outermost() *Turn {
	for t.outer != nil {
		t = t.outer
	}
	return t
}
