package results

import (
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// Store fits the results of one session and keeps those that do not fit. It is safe for concurrent use.
type Store struct {
	options Options
	dir     *sessiondir.Dir // nil is none
	log     *slog.Logger

	turns sync.Mutex // held while a turn is decided
	// firsts are the first results with a content. They are for turns.
	firsts map[sum]first

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

// Call says whose result it is.
type Call struct {
	// Tool is the tool's name, and Title one line about the call, which may be empty.
	Tool, Title string
	// MaxChars is the tool's own limit, in code points; 0 is none of its own.
	MaxChars int
	// Unlimited says that it bounds itself, where that is to be believed.
	Unlimited bool
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

// outcome is what became of a result.
type outcome struct {
	// Text replaces the result's own text, but for that of the last Notes blocks; nil
	// leaves the result as it is. Alone, it replaces everything else too.
	Text  *string `json:"text,omitempty"`
	Alone bool    `json:"alone,omitempty"`
	Notes int     `json:"notes,omitempty"`
	// Stored is where the whole text lies, if it does.
	Stored *Stored `json:"stored,omitempty"`
}

// New returns the store of a session. With a directory it goes on where an
// earlier one of that session ended; without one, results that are too long are cut.
// The logger is told what could not be kept.
func New(o Options, d *sessiondir.Dir, log *slog.Logger) *Store {
	s := &Store{
		options: o, dir: d, log: log,
		decided: make(map[key]outcome), ids: make(map[string]bool),
		firsts: make(map[sum]first), previews: make(map[key]bool),
		wholes: make(map[whole]bool), seed: maphash.MakeSeed(),
	}
	s.restore()
	return s
}

// Fit fits one result to its tool's limit. A result without any content says so;
// one that has structured content only says that. It returns nil where the
// result is so short that no turn will change it.
func (s *Store) Fit(c Call, r *abi.ToolResult) *Fitted {
	complete(c, r)
	limit := s.limit(c)
	if s.small(r.Content, limit) {
		return nil
	}
	f := &Fitted{call: c}
	if s.over(limit, r) {
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

// limit is what a tool's result may count: the operator's word on the tool, else
// the lesser of the tool's own and what holds for all.
func (s *Store) limit(c Call) int {
	if n := s.options.Tools[c.Tool].MaxChars; n != 0 {
		return max(n, Unlimited)
	}
	all := orDefault(s.options.MaxChars, DefaultMaxChars)
	switch {
	case c.Unlimited:
		return Unlimited
	case c.MaxChars > 0 && (all == Unlimited || c.MaxChars < all):
		return c.MaxChars
	}
	return all
}

func orDefault(n, usual int) int {
	if n == 0 {
		return usual
	}
	return max(n, Unlimited)
}

// worthwhile is how long a text is, in what it counts, that a preview would surely
// shorten.
const worthwhile = 3_000

// small reports whether a result is within its limit and too short to be of any
// other concern, without counting.
func (s *Store) small(content []abi.Block, limit int) bool {
	least := worthwhile
	if s.options.Duplicates {
		least = minDuplicate
	}
	if limit == Unlimited || limit > least {
		limit = least
	}
	return len(content) == 1 && s.options.Measure == nil && content[0].Type == abi.BlockText &&
		content[0].Spilled == nil && len(content[0].Text) < limit
}

// over reports whether a result's text is to go: it is over the limit, or what
// stands beside it is and the text has a share in that. What is spilled always goes,
// as it is not to be held.
func (s *Store) over(limit int, r *abi.ToolResult) bool {
	if len(spilled(r.Content)) > 0 {
		return true
	}
	if s.within(limit, *r) {
		return false
	}
	all, text := s.size(r.Content)
	return text > limit || all > limit && text > worthwhile
}

// persist puts a result's text into a file, or cuts it where it cannot. The same
// result of the same call is replaced as it was before.
func (s *Store) persist(f *Fitted, r *abi.ToolResult, limit int) {
	id := keyOf(r)
	o, known := s.outcome(id)
	known = known && o.Text != nil // a limit holds for what a turn left whole, too
	switch {
	case !known && s.shown(id):
		return // however little the limit allows, there is nothing to gain
	case !known:
		var err error
		if o, err = s.store(f.call, r.Content, id, previewLimit(limit)); err != nil {
			s.lost(r, err)
			r.Content = cut(r.Content, cutTo(limit), why(limit, err))
			return
		}
	default:
		s.renew(o, r.Content)
	}
	o.apply(r)
	f.Stored, f.origin = o.Stored, id.Content
	s.shows(keyOf(r))
	if !known {
		s.note(id, o)
		s.write(sessiondir.Record{Kind: kindReplaced, Data: replaced{id, o}})
	}
}

// maxChain is how often a result is replaced at most: by its tool's limit, and by
// its turn's.
const maxChain = 2

// again does to a result what was done before to the same one. What it is then is
// decided for ever.
func (s *Store) again(r *abi.ToolResult) (o outcome, changed bool) {
	for range maxChain {
		next, known := s.outcome(keyOf(r))
		if !known || next.Text == nil {
			break
		}
		o, changed = next, true
		o.apply(r)
	}
	return o, changed
}

// apply replaces a result's content.
func (o *outcome) apply(r *abi.ToolResult) {
	at := max(0, len(r.Content)-o.Notes)
	content, notes := r.Content[:at], r.Content[at:]
	if o.Alone {
		content = []abi.Block{abi.TextBlock(*o.Text)}
	} else {
		content = withText(content, *o.Text)
	}
	r.Content = slices.Concat(content, notes)
}

// note writes down what became of a result.
func (s *Store) note(id key, o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided[id] = o
	s.ids[id.ID] = true
}

// shows writes down that a result is a preview, and shown reports that.
func (s *Store) shows(id key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.previews[id] = true
}

func (s *Store) shown(id key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.previews[id]
}

// known reports whether anything was decided about results with the id of this one.
func (s *Store) known(r *abi.ToolResult) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids) > 0 && s.ids[idOf(r)]
}

func (s *Store) outcome(id key) (outcome, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.decided[id]
	return o, ok
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
