package results

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// Replacement tells that a result was replaced.
type Replacement struct {
	// Index is the result's, and Stored where its whole text lies; nil where it does
	// not.
	Index  int
	Stored *Stored
}

// Turn holds the results of one turn, in call order, to their budget together: the
// longest are persisted first, until they fit. It replaces the contents of those
// that it changes. What Fit did with each, of says; it may be shorter, or nil for
// results that come from elsewhere.
//
// What it decides is for ever: it does the same to the same results in every later
// evaluation, whatever stands beside them then, and what it left whole stays whole.
// Results are the same where their ids and contents are. What was left whole is
// remembered over restarts only with a turn of which something was replaced or that
// is over the budget; of others the same budget decides the same again.
func (s *Store) Turn(rs []abi.ToolResult, of []*Fitted) []Replacement {
	s.turns.Lock()
	defer s.turns.Unlock()
	if s.leaveAll(rs, of) {
		return nil
	}
	t := deciding{store: s, rs: rs, results: make([]deliberated, len(rs))}
	for i := range rs {
		r := &t.results[i]
		r.ToolResult = &rs[i]
		f := fittedOf(of, i)
		if f != nil {
			r.Fitted = *f
		}
		r.worth = s.worth(&rs[i], f)
	}
	t.again()
	if s.limits().Duplicates {
		t.refer()
	}
	t.shorten()
	t.settle()
	return t.replacements()
}

// leaveAll leaves the results of a turn whole, and reports whether it could: there is
// nothing to be done about them, now or because of what was done before.
func (s *Store) leaveAll(rs []abi.ToolResult, of []*Fitted) bool {
	if s.limits().Duplicates || !s.limits().within(s.limits().turn(), rs...) {
		return false
	}
	for i := range rs {
		if f := fittedOf(of, i); f != nil && f.Stored != nil || s.decided.known(&rs[i]) || len(spilled(rs[i].Content)) > 0 {
			return false
		}
	}
	for i := range rs {
		if s.worth(&rs[i], fittedOf(of, i)) {
			s.decided.leave(&rs[i])
		}
	}
	return true
}

// worth reports whether a result is worth a thought: others are too short for it.
func (s *Store) worth(r *abi.ToolResult, f *Fitted) bool {
	return f != nil || s.decided.known(r) || !s.limits().small(r.Content, Unlimited)
}

// fittedOf is what Fit did with a result of a turn, or nil.
func fittedOf(of []*Fitted, i int) *Fitted {
	if i >= len(of) {
		return nil
	}
	return of[i]
}

// deciding is one turn that is decided.
type deciding struct {
	store   *Store
	rs      []abi.ToolResult
	results []deliberated // what is thought of each
	records []sessiondir.Record
	// lasting says that what is left whole is to be remembered over restarts.
	lasting bool
}

// deliberated is one result of it.
type deliberated struct {
	*abi.ToolResult
	Fitted
	// worth says that it is worth a thought, and key which result it now is then.
	worth bool
	key   key
	// decided says that it is known what becomes of it, replaced that it is not what it
	// was, and whole that other processes are yet to know that it stays what it is.
	decided, replaced, whole bool
}

// answer is what its tool answered, without what was added.
func (r *deliberated) answer() []abi.Block { return r.Content[:max(0, len(r.Content)-r.Notes)] }

// again does what was done before.
func (t *deciding) again() {
	for i := range t.results {
		r := &t.results[i]
		if !r.worth {
			continue
		}
		if o, changed := t.store.decided.again(r.ToolResult); changed {
			r.Stored, r.replaced, r.decided = o.Stored, true, true
		}
		t.lasting = t.lasting || r.Stored != nil || len(spilled(r.Content)) > 0
		r.key = keyOf(r.ToolResult)
		_, known := t.store.decided.outcome(r.key)
		r.whole = !known && !r.replaced && t.store.decided.left(r.ToolResult)
		r.decided = r.decided || known || r.whole
	}
}

// refer replaces results that are the same as earlier ones by a word about those.
func (t *deciding) refer() {
	for i := range t.results {
		r := &t.results[i]
		if !r.worth || r.decided || textBytes(r.answer()) < minDuplicate {
			continue
		}
		origin := r.origin
		if origin == (sum{}) {
			origin = sumOf(r.answer(), r.IsError)
		}
		f, found := t.store.firsts[origin]
		if !found {
			t.isFirst(r, origin)
		} else if f.ID != r.key.ID {
			text := f.reference()
			t.replace(r, outcome{Text: &text, Alone: true, Stored: r.Stored})
		}
	}
}

// textBytes is how long the text of a result is.
func textBytes(content []abi.Block) int64 {
	t := textOf(content)
	return t.bytes
}

// isFirst has later results with the same content refer to this one.
func (t *deciding) isFirst(r *deliberated, origin sum) {
	f := first{key: key{r.key.ID, origin}, Tool: r.call.Tool, Title: r.call.Title}
	if r.Stored != nil {
		f.Chars, f.Path = r.Stored.Chars, r.Stored.Path
	} else {
		whole := textOf(r.answer())
		f.Chars = whole.chars
	}
	t.store.firsts[origin] = f
	t.records = append(t.records, sessiondir.Record{Kind: kindFirst, Data: f})
}

// reference is what stands for a result that is the same as an earlier one.
func (f *first) reference() string {
	text := "(the same as the result of the earlier call " + f.Tool
	if f.Title != "" {
		text += "(" + f.Title + ")"
	}
	text += fmt.Sprintf(" with the id %s: %s characters", f.ID, thousands(f.Chars))
	if f.Path != "" {
		text += ", all of them in " + f.Path
	}
	return text + ")"
}

// shorten persists the longest results until all fit.
func (t *deciding) shorten() {
	limit := t.store.limits().turn()
	if t.store.limits().within(limit, t.rs...) {
		return
	}
	t.lasting = true
	all, longest := t.longest()
	for _, c := range longest {
		if all <= limit {
			return
		}
		before, _ := t.store.limits().size(c.Content)
		t.persist(c.deliberated, limit)
		after, _ := t.store.limits().size(c.Content)
		all += after - before
	}
}

// candidate is a result that may be persisted, and what its text counts.
type candidate struct {
	*deliberated
	text int
}

// longest returns what all results count, and those that may be persisted, longest
// first.
func (t *deciding) longest() (all int, found []candidate) {
	for i := range t.results {
		r := &t.results[i]
		n, _ := t.store.limits().size(r.Content)
		all += n
		_, text := t.store.limits().size(r.answer())
		if text > worthwhile && r.worth && !r.decided && r.Stored == nil && !t.store.limits().exempt(r.call) {
			found = append(found, candidate{r, text})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.text, a.text) })
	return all, found
}

// persist replaces a result by a preview.
func (t *deciding) persist(r *deliberated, limit int) {
	o, err := t.store.files.put(r.answer(), r.key, t.store.limits().strategy(r.call), PreviewBytes)
	if err != nil {
		t.store.files.lost(r.ToolResult, err)
		whole := textOf(r.answer())
		text := excerpt(&whole, t.store.limits().strategy(r.call), PreviewBytes) + fmt.Sprintf(
			"\n(the result was cut: it has %d characters, and the results of this turn together are over their limit of %d; ask for less at a time)", whole.chars, limit)
		o = outcome{Text: &text}
	}
	t.replace(r, o)
}

func (t *deciding) replace(r *deliberated, o outcome) {
	o.Notes = r.Notes
	t.store.decided.note(r.key, o)
	t.records = append(t.records, sessiondir.Record{Kind: kindReplaced, Data: replaced{r.key, o}})
	o.apply(r.ToolResult)
	r.key, r.Stored, r.replaced = keyOf(r.ToolResult), o.Stored, true
}

// keptPerRecord keeps records short.
const keptPerRecord = 100

// settle makes what was decided stand for ever: that of a turn beyond this process,
// where another budget could decide otherwise.
func (t *deciding) settle() {
	lasting := t.lasting || len(t.records) > 0
	var kept []key
	for i := range t.results {
		switch r := &t.results[i]; {
		case !r.worth || r.decided && !r.whole:
		case lasting:
			t.store.decided.note(r.key, outcome{})
			kept = append(kept, r.key)
		default:
			t.store.decided.leave(r.ToolResult)
		}
	}
	for some := range slices.Chunk(kept, keptPerRecord) {
		t.records = append(t.records, sessiondir.Record{Kind: kindKept, Data: some})
	}
	t.store.write(t.records...)
}

func (t *deciding) replacements() []Replacement {
	var out []Replacement
	for i := range t.results {
		if r := &t.results[i]; r.replaced {
			out = append(out, Replacement{i, r.Stored})
		}
	}
	return out
}
