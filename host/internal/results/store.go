package results

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// Store fits the results of one session and keeps those that do not fit. It is safe for
// concurrent use.
type Store struct {
	options atomic.Pointer[Options]
	files   files
	decided *decisions

	turns sync.Mutex // held while a turn is decided
	// firsts are the first results with a content. They are for turns.
	firsts map[sum]first
}

// Fitted is what [Store.Fit] did with a result, for [Store.Turn].
type Fitted struct {
	// Stored is where the result's text lies, if that was persisted.
	Stored *Stored
	// Notes is how many blocks were added behind what the tool answered. They stay,
	// whatever happens to the rest.
	Notes int

	call   Call
	origin sum // what the tool answered, where that was persisted
}

// New returns the store of a session. With a directory it goes on where an
// earlier one of that session ended; without one, results that are too long are cut.
// The logger is told what could not be kept.
func New(o Options, d *sessiondir.Dir, log *slog.Logger) *Store {
	s := &Store{files: files{dir: d, log: log}, decided: newDecisions(), firsts: make(map[sum]first)}
	s.Limit(o)
	s.restore()
	return s
}

// Limit sets other limits, for results that are not fitted yet.
func (s *Store) Limit(o Options) { s.options.Store(&o) }

// limits are those that count now.
func (s *Store) limits() *limits { return (*limits)(s.options.Load()) }

// Fit fits one result to its tool's limit. A result without any content says so;
// one that has structured content only says that. It returns nil where the
// result is so short that no turn will change it.
func (s *Store) Fit(c Call, r *abi.ToolResult) *Fitted {
	complete(c, r)
	l := s.limits()
	limit := l.of(c)
	if l.small(r.Content, limit) {
		return nil
	}
	f := &Fitted{call: c}
	if l.over(limit, r) {
		s.persist(f, r, limit)
	}
	return f
}

// complete gives the model something to read.
func complete(c Call, r *abi.ToolResult) {
	r.Content = withoutEmpty(r.Content)
	switch {
	case len(r.Content) > 0:
	case len(r.Structured) > 0:
		r.Content = []abi.Block{abi.TextBlock(string(r.Structured))}
	default:
		r.Content = []abi.Block{abi.TextBlock(fmt.Sprintf("(%s completed with no output)", c.Tool))}
	}
}

// persist puts a result's text into a file, or cuts it where it cannot. The same
// result of the same call is replaced as it was before.
func (s *Store) persist(f *Fitted, r *abi.ToolResult, limit int) {
	id := keyOf(r)
	o, known := s.decided.outcome(id)
	known = known && o.Text != nil // a limit holds for what a turn left whole, too
	switch {
	case !known && s.decided.shown(id):
		return // however little the limit allows, there is nothing to gain
	case !known:
		var err error
		if o, err = s.files.put(r.Content, id, s.limits().strategy(f.call), previewLimit(limit)); err != nil {
			s.files.lost(r, err)
			r.Content = cut(r.Content, cutTo(limit), why(limit, err))
			return
		}
	default:
		s.files.renew(o, r.Content)
	}
	o.apply(r)
	f.Stored, f.origin = o.Stored, id.Content
	s.decided.shows(keyOf(r))
	if !known {
		s.decided.note(id, o)
		s.write(sessiondir.Record{Kind: kindReplaced, Data: replaced{id, o}})
	}
}

// Drop removes the files of what is spilled of a result that is replaced, or that nobody
// gets. They were the result's alone.
func (s *Store) Drop(content []abi.Block) { s.files.drop(content) }

// Spiller returns [Store.Spill], or nil where there is no directory: a long text then
// counts against the limit of its tool's output.
func (s *Store) Spiller() func() (abi.Spill, error) {
	if s.files.dir == nil {
		return nil
	}
	return s.Spill
}

// Spill makes a place for one text that is too long to hold, in the session's
// directory. Its file becomes the result's when [Store.Fit] is given what Done
// returns; a file that Fit is never given goes with the session's end.
//
// Where the file cannot be written, as on a full disk, the text is not lost as a
// whole: its beginning and its end are, and Fit cuts it.
func (s *Store) Spill() (abi.Spill, error) { return s.files.spill() }

// restore reads what an earlier process decided. Records that cannot be read were
// written by a newer program: what they say is not known to this one.
func (s *Store) restore() {
	if s.files.dir == nil {
		return
	}
	each(s, kindReplaced, func(r replaced) {
		r.Notes = max(0, r.Notes) // a checksum does not say that what was written made sense
		s.decided.note(r.key, r.outcome)
	})
	each(s, kindKept, func(kept []key) {
		for _, id := range kept {
			s.decided.note(id, outcome{})
		}
	})
	each(s, kindFirst, func(f first) { s.firsts[f.Content] = f })
}

// each recalls the records of a kind.
func each[T any](s *Store, kind string, do func(T)) {
	for _, data := range s.files.dir.Recall(kind) {
		var v T
		if err := json.Unmarshal(data, &v); err != nil {
			s.files.log.Warn("a record of the session's journal is not understood", "kind", kind, "error", err)
			continue
		}
		do(v)
	}
}

// write remembers records beyond this process. Where that fails nothing is lost to
// the model.
func (s *Store) write(records ...sessiondir.Record) {
	if len(records) == 0 || s.files.dir == nil {
		return
	}
	if err := s.files.dir.Append(records...); err != nil {
		s.files.log.Warn("what was done to results will be forgotten with this process", "error", err)
	}
}

// withoutEmpty leaves out text blocks without text, which model APIs refuse. It
// leaves the list it is given as it is: the tool may hold on to it.
func withoutEmpty(blocks []abi.Block) []abi.Block {
	for i, b := range blocks {
		if !isEmpty(b) {
			continue
		}
		kept := append([]abi.Block(nil), blocks[:i]...)
		for _, b := range blocks[i+1:] {
			if !isEmpty(b) {
				kept = append(kept, b)
			}
		}
		return kept
	}
	return blocks
}

func isEmpty(b abi.Block) bool {
	return b.Type == abi.BlockText && b.Text == "" && b.Spilled == nil
}
