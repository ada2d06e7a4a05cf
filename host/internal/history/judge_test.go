package history_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/internal/testenv"
)

// begun is a write between its look at the file and its end.
type begun struct {
	looked, content, id string
}

// world is a file with writers that look at it, are recorded, and then are done, taken
// back or killed, in any order.
type world struct {
	*room
	now   string // what the file holds
	fresh int    // how many contents there were
	open  []*begun
	// truth is whether each write that is recorded was done.
	truth map[string]bool
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{room: newRoom(tb, history.Options{}), truth: make(map[string]bool)}
	w.change()
	return w
}

// content is one that nothing had.
func (w *world) content() string {
	w.fresh++
	return fmt.Sprint("content ", w.fresh)
}

// change is one by something else.
func (w *world) change() {
	w.now = w.content()
	w.put("a", w.now)
}

// look begins a write.
func (w *world) look() { w.open = append(w.open, &begun{looked: w.now, content: w.content()}) }

// record has the history hold a write that was begun, as it had looked at the file.
func (w *world) record(b *begun) {
	w.put("a", b.looked)
	b.id = w.keep("c", "a", b.content)
	w.put("a", w.now)
	w.truth[b.id] = false
}

// end does a write where the file is what it was, else it is taken back.
func (w *world) end(b *begun) {
	w.tb.Helper()
	if w.now != b.looked {
		if err := w.Void(b.id); err != nil {
			w.tb.Fatal(err)
		}
		delete(w.truth, b.id)
		return
	}
	w.now, w.truth[b.id] = b.content, true
	w.put("a", w.now)
}

// step does something with a writer, or begins or kills one, of which there are so many
// at once.
func (w *world) step(random *rand.Rand, most int) {
	if len(w.open) == 0 || len(w.open) < most && random.IntN(3) == 0 {
		w.look()
		return
	}
	i := random.IntN(len(w.open))
	b := w.open[i]
	killed := random.IntN(4) == 0
	if b.id == "" && !killed {
		w.record(b)
		return
	}
	if !killed {
		w.end(b)
	}
	w.open = append(w.open[:i], w.open[i+1:]...)
}

// TestNothingUntrueIsSaid kills writers at random moments: no write is said to be done
// that was not. Nor is one said not to be done that was, unless writers overtake each
// other and something else changes the file as well. Where nothing else does, all of it
// can be undone.
func TestNothingUntrueIsSaid(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]struct {
		writers int
		others  bool
	}{"they overtake": {4, false}, "others write too": {1, true}, "both": {4, true}} {
		for seed := range uint64(10) {
			random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // it is to be the same each time
			w := newWorld(t)
			first := w.now
			for range 20 {
				if mode.others && random.IntN(6) == 0 {
					w.change()
				}
				w.step(random, mode.writers)
			}
			for _, c := range w.changes() {
				done, said := w.truth[c.ID], c.State
				if said == history.StateDone && !done || said == history.StateNotDone && done && name != "both" {
					t.Errorf("%s, seed %d: %s was done: %v, and it says %q; all of it:\n%s", name, seed, c.ID, done, said, w.list(all))
				}
			}
			if mode.others || len(w.truth) == 0 {
				continue
			}
			if said := w.restore(all, history.RestoreOptions{}); strings.Contains(said, ":") {
				t.Errorf("%s, seed %d: %s; all of it:\n%s", name, seed, said, w.list(all))
			}
			w.is("a", first)
		}
	}
}

// changes are all that the history holds, and no other than it should.
func (w *world) changes() []history.Change {
	w.tb.Helper()
	changes, err := w.List(w.tb.Context(), all)
	if err != nil || len(changes) != len(w.truth) {
		w.tb.Fatalf("%d of %d, %v", len(changes), len(w.truth), err)
	}
	return changes
}

// TestFates has the cases that people should read.
func TestFates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// writes are FROM>TO, as they were recorded.
		writes string
		now    string
		want   string
	}{
		"done":                          {"a>b", "b", "done"},
		"killed before the write":       {"a>b", "a", "not done"},
		"changed since":                 {"a>b", "x", "changed since"},
		"made":                          {"->b", "b", "done"},
		"never made":                    {"->b", "-", "not done"},
		"killed, and tried again":       {"a>b a>b", "b", "not done, done"},
		"killed, and tried again twice": {"a>b a>b a>b", "b", "not done, not done, done"},
		"all killed":                    {"a>b a>c", "a", "not done, not done"},
		"overtaken, and killed":         {"a>b a>c", "b", "done, not done"},
		"overtaken twice, and killed":   {"a>b b>c a>d", "c", "done, done, not done"},
		"overtaken, killed, gone on":    {"a>b a>c b>d", "d", "done, not done, done"},
		"there and back":                {"a>b b>a", "a", "done, done"},
		"there and killed":              {"a>b b>a", "b", "done, not done"},
		"changed in between":            {"a>b x>c", "c", "changed since, done"},
		"changed, and killed":           {"a>b x>c", "x", "changed since, not done"},
		"seen by one that was killed":   {"a>b b>c", "x", "done, changed since"},
		"put back":                      {"a>b b>c a>d", "d", "done, changed since, done"},
		"put back, and changed":         {"a>b b>c a>d", "x", "done, changed since, changed since"},
		"no change":                     {"a>a", "a", "done"},
		"no change, then another":       {"a>a", "x", "changed since"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			for write := range strings.FieldsSeq(test.writes) {
				from, to, _ := strings.Cut(write, ">")
				r.have("a", from)
				r.keep("c", "a", to)
			}
			r.have("a", test.now)
			changes, err := r.List(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range changes {
				got = append(got, string(c.State))
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("it says %s, want %s", got, test.want)
			}
		})
	}
}

// TestManyWritesAreJudgedSoon has a file that something else changes before each write.
func TestManyWritesAreJudgedSoon(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(i int) string{
		"changed": func(i int) string { return fmt.Sprint("x", i) },
		"undone":  func(int) string { return "x" },
		"at odds": func(i int) string { return strconv.Itoa(i * 7919 % 50) },
		"gone on": func(i int) string { return fmt.Sprint("y", i-1) },
	} {
		var writes [][2]string
		for i := range 1000 {
			writes = append(writes, [2]string{from(i), fmt.Sprint("y", i)})
		}
		testenv.InTime(t, 2*time.Second, func() time.Duration {
			began := time.Now()
			states := history.Fates(writes, "y999")
			if len(states) != len(writes) || states[len(states)-1] != history.StateDone {
				t.Errorf("%s: the last is %s", name, states[len(states)-1])
			}
			return time.Since(began)
		})
	}
}
