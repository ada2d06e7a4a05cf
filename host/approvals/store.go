package approvals

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Options are those of a [Store]. The zero value is good.
type Options struct {
	// Lifetime is how long a question and its answer are good: a week, unless
	// set.
	Lifetime time.Duration
	// Max is the most questions kept at once: 1000, unless set.
	Max int
}

// maxFile is the largest file of a store in bytes: a question has the call's
// input and a preview.
const maxFile = 16 << 20

// maxMessage is the longest message of a denial, in bytes.
const maxMessage = 64 << 10

// The errors of a store.
var (
	// ErrUnknown is that of an id that no question has: it never had, or its
	// answer was used, or it was forgotten.
	ErrUnknown = errors.New("there is no such approval")
	// ErrAnswered is that of a question that somebody answered before.
	ErrAnswered = errors.New("it was answered before")
	// ErrExpired is that of a question that is too old to be answered.
	ErrExpired = errors.New("it has expired")
	// ErrFull is that of a store with too many open questions.
	ErrFull = errors.New("too many questions are open")
)

// Store keeps questions and their answers in a directory. It is safe for
// concurrent use, by several processes too.
type Store struct {
	dir     directory
	options Options
}

// OpenStore opens the store in a directory, which is made if need be. It must be
// the user's own and closed to others.
func OpenStore(dir string, o Options) (*Store, error) {
	if err := privatedir.Make(dir); err != nil {
		return nil, fmt.Errorf("the approvals: %w", err)
	}
	return &Store{dir: directory(dir), options: Options{
		Lifetime: min(cmp.Or(o.Lifetime, 7*24*time.Hour), maxLifetime), Max: cmp.Or(o.Max, 1000),
	}}, nil
}

// State says how far a question is.
type State string

// The states.
const (
	StatePending State = "pending"
	// StateAllowed and StateDenied are answers that no call has come for yet.
	StateAllowed State = "allowed"
	StateDenied  State = "denied"
	// StateReplaced is a question that was asked anew: Item.Answer.By names the
	// new one.
	StateReplaced State = "replaced"
	// StateUsed is an answer that holds no more.
	StateUsed State = "used"
	// StateExpired is a question, or an answer, that is too old.
	StateExpired State = "expired"
)

// Item is a question with what became of it.
type Item struct {
	Record

	State State
	// Answer is zero while there is none.
	Answer Answer
}

// Answer is what a person said to a question.
type Answer struct {
	// Answer is allow or deny.
	Answer host.Answer `json:"answer"`
	// Message, with a denial, is for the model: at most 64 KiB.
	Message string `json:"message,omitempty"`
	// EndTurn is as in [host.Reply].
	EndTurn bool `json:"end_turn,omitempty"`
	// Content, with an allow, is what the person filled into a form: the fields by their names.
	Content json.RawMessage `json:"content,omitempty"`
	// Remember, with an allow, takes the question's option with that target: the
	// call that uses the answer adds its rules. Empty takes none.
	Remember host.RuleTarget `json:"remember,omitempty"`
	// By says who answered, for those who look later.
	By string `json:"by,omitempty"`
	// At is when; Answer fills it in.
	At time.Time `json:"at"`
}

// answerReplaced, in a file, says that the question was asked anew.
const answerReplaced host.Answer = "replaced"

// List returns the questions that are open, answered and not used, or expired
// and not yet swept, the oldest first. Files that cannot be read or understood
// are left out, and the error tells of them.
func (s *Store) List() ([]Item, error) {
	questions, err := s.dir.names(isQuestion)
	if err != nil {
		return nil, err
	}
	var items []Item
	var errs []error
	for _, n := range questions {
		item, err := s.dir.load(n)
		switch {
		case errors.Is(err, ErrUnknown): // taken away meanwhile
		case err != nil:
			errs = append(errs, err)
		default:
			items = append(items, item)
		}
	}
	slices.SortFunc(items, compareItems)
	return items, errors.Join(errs...)
}

// compare orders questions by age, the oldest first.
func compare(a, b *Record) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) }

func compareItems(a, b Item) int { return compare(&a.Record, &b.Record) }

// Get returns one question.
func (s *Store) Get(id string) (Item, error) {
	n, err := s.dir.find(id)
	if err != nil {
		return Item{}, err
	}
	return s.dir.load(n)
}

// Answer answers an open question. Of several that answer it, one does; the
// others get ErrAnswered.
func (s *Store) Answer(id string, a Answer) error {
	n, err := s.dir.find(id)
	if err != nil {
		return err
	}
	item, err := s.dir.load(n)
	if err != nil {
		return err
	}
	switch {
	case item.State == StateExpired:
		return fmt.Errorf("approval %s: %w", id, ErrExpired)
	case item.State != StatePending:
		return answered(&item)
	case a.Answer != host.AnswerAllow && a.Answer != host.AnswerDeny:
		return fmt.Errorf("unknown answer %q: it must be %s or %s", a.Answer, host.AnswerAllow, host.AnswerDeny)
	case len(a.Message) > maxMessage:
		return fmt.Errorf("a message of %d bytes is too long; at most %d", len(a.Message), maxMessage)
	case a.Remember != "" && (a.Answer != host.AnswerAllow || item.option(a.Remember) == nil):
		return fmt.Errorf("approval %s offers nothing to remember for %q", id, a.Remember)
	}
	if a.Content, err = item.accept(&a); err != nil {
		return fmt.Errorf("approval %s: %w", id, err)
	}
	a.At = time.Now().UTC()
	won, err := s.dir.putAnswer(n, a)
	if err != nil {
		return err
	}
	// The question may have been answered, used or forgotten meanwhile.
	if item, err = s.dir.load(n); err == nil && !won {
		err = answered(&item)
	}
	return err
}

// accept holds an answer to what was asked, and returns its content as it counts.
func (r *Record) accept(a *Answer) (json.RawMessage, error) {
	switch {
	case r.Kind != "" && a.Answer == host.AnswerAllow:
		asks := r.Question()
		return asks.Accept(a.Content)
	case len(a.Content) > 0:
		return nil, errors.New("only an answer that accepts what a tool asked has content")
	case r.Kind != "" && a.EndTurn:
		return nil, errors.New("only a denial of an approval ends the turn")
	}
	return nil, nil
}

// answered says who was first.
func answered(i *Item) error {
	return fmt.Errorf("approval %s: %w: %s by %q at %s", i.ID, ErrAnswered, i.Answer.Answer, i.Answer.By, i.Answer.At.Format(time.RFC3339))
}

// option is the one with a target, or nil.
func (r *Record) option(target host.RuleTarget) *host.RememberOption {
	for i := range r.Offers {
		if r.Offers[i].Target == target {
			return &r.Offers[i]
		}
	}
	return nil
}

// Forget takes a question away, answered or not. If the call comes again, it is
// asked anew.
func (s *Store) Forget(id string) error {
	n, err := s.dir.find(id)
	if err != nil {
		return err
	}
	return s.dir.remove(n)
}

// Sweep takes away what has expired, and what crashes left.
func (s *Store) Sweep() error {
	all, err := s.dir.names(nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range all {
		if n.kind == kindQuestion {
			item, err := s.dir.load(n)
			if err == nil && (item.State == StateExpired || item.State == StateUsed) {
				errs = append(errs, s.dir.remove(n))
			}
			continue
		}
		// What is left of a question that is gone, or was never made.
		orphan := n.kind == kindTemporary || !slices.ContainsFunc(all, func(q name) bool { return q == n.of(kindQuestion) })
		info, err := os.Lstat(s.dir.path(n))
		if err == nil && orphan && time.Since(info.ModTime()) > time.Hour {
			errs = append(errs, os.Remove(s.dir.path(n)))
		}
	}
	return errors.Join(errs...)
}

// save keeps a new question.
func (s *Store) save(r *Record) error {
	if err := s.room(); err != nil {
		return err
	}
	content, err := json.Marshal(r)
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("the question has %d bytes; at most %d can be kept", len(content), maxFile)
	}
	if err != nil {
		return err
	}
	n := name{key: key(r.Session, r.Binding), id: r.ID, kind: kindQuestion}
	if _, err := os.Lstat(s.dir.path(n)); err == nil {
		return fmt.Errorf("there is a question %s already", r.ID)
	}
	if err := atomicfile.Write(s.dir.path(n), content, fileMode); err != nil {
		return err
	}
	return s.dir.sync()
}

// room makes sure that there is room for one more question.
func (s *Store) room() error {
	for try := 0; ; try++ {
		questions, err := s.dir.names(isQuestion)
		switch {
		case err != nil:
			return err
		case len(questions) < s.options.Max:
			return nil
		case try == 1:
			return fmt.Errorf("%w: %d in %s; answer or forget some", ErrFull, len(questions), s.dir)
		}
		if err := s.Sweep(); err != nil {
			return err
		}
	}
}

// of are the questions about the same call in the same session, the oldest
// first. What cannot be read answers nothing.
func (s *Store) of(session, binding string) ([]Item, error) {
	k := key(session, binding)
	names, err := s.dir.names(func(n name) bool { return n.kind == kindQuestion && n.key == k })
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, n := range names {
		item, err := s.dir.load(n)
		if err == nil && item.Session == session && item.Binding == binding {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, compareItems)
	return items, nil
}
