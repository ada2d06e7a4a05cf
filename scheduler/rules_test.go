package scheduler_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// The rules, one by one, as turns of few jobs. A job is written as a line of words,
// such as "safe run=2 r:dir/file": its traits, how many seconds it takes (1 unless
// said), what it locks. What comes of it is "started-ended result".

// parse reads a job.
func parse(t *testing.T, text string) plan {
	t.Helper()
	p := plan{run: time.Second}
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		seconds, _ := strconv.ParseFloat(value, 64)
		d := time.Duration(seconds * float64(time.Second))
		switch name {
		case "safe":
			p.traits.Safe = true
		case "alone":
		case "locked":
			p.traits.Locked = true
		case "cascade":
			p.traits.Cascade = true
		case "block":
			p.traits.Block = true
		case "fails":
			p.fails = true
		case "group":
			p.traits.Group = value
		case "ask":
			p.admit = d
		case "run":
			p.run = d
		case "yield":
			p.yield = d
		case "behind":
			p.behind = d
		case "added":
			p.addedAt = d
		case "holds":
			p.holds = int64(seconds)
		default:
			kind, lock, ok := strings.Cut(word, ":")
			if !ok {
				t.Fatalf("%q says nothing about a job", word)
			}
			p.traits.Locked = true
			p.traits.Locks = append(p.traits.Locks, scheduler.Lock{Name: lock, Write: kind == "w"})
		}
	}
	return p
}

// line is what was seen of a job.
func (tr *trace) line() string {
	text := "-"
	end, _ := tr.when(scheduler.Completed)
	if start, ran := tr.when(scheduler.Executing); ran {
		text = fmt.Sprintf("%.0f", start.Seconds())
	}
	text += fmt.Sprintf("-%.0f", end.Seconds())
	if tr.result != "ok" {
		text += " " + tr.result
	}
	if tr.dropped {
		text += ", dropped"
	}
	return text
}

// ruleTest is a turn and what must come of it.
type ruleTest struct {
	name  string
	rules rules
	jobs  []string
	stops []stop
	want  []string
}

func testRules(t *testing.T, tests []ruleTest) {
	t.Helper()
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				plans := make([]plan, len(c.jobs))
				for i, text := range c.jobs {
					plans[i] = parse(t, text)
					plans[i].admit += time.Duration(i) // who is admitted first is first in line
				}
				if c.rules.slots == 0 {
					c.rules.slots = 10
				}
				tn := play(t, c.rules, scheduler.Options{}, plans, c.stops)
				for i := range tn.traces {
					if got := tn.traces[i].line(); got != c.want[i] {
						t.Errorf("job %d, %q: %s, want %s", i, c.jobs[i], got, c.want[i])
					}
				}
			})
		})
	}
}

func TestStartRule(t *testing.T) {
	t.Parallel()
	testRules(t, []ruleTest{
		{
			name: "safe ones together, others alone",
			jobs: []string{"safe run=2", "safe", "alone", "safe", "alone", "alone"},
			want: []string{"0-2", "0-1", "2-3", "3-4", "4-5", "5-6"},
		},
		{
			name: "readers of one name together, a writer after them",
			jobs: []string{"r:a run=2", "r:a", "w:a", "r:a"},
			want: []string{"0-2", "0-1", "2-3", "3-4"},
		},
		{
			name: "writers of different names together",
			jobs: []string{"w:a run=3", "w:b run=2", "w:c/d"},
			want: []string{"0-3", "0-2", "0-1"},
		},
		{
			name: "what lies below a name is part of it",
			jobs: []string{"w:a run=2", "r:a/b/c", "w:a", "w:ab"},
			want: []string{"0-2", "2-3", "3-4", "3-4"},
		},
		{
			name: "the queue stops at the first that cannot start",
			jobs: []string{"w:a run=2", "w:a", "w:b"},
			want: []string{"0-2", "2-3", "2-3"},
		},
		{
			name: "one that is safe beside one that is locked only by its locks",
			jobs: []string{"w:a run=2", "safe r:b", "safe r:a"},
			want: []string{"0-2", "0-1", "2-3"},
		},
		{
			name: "one that says no locks is not beside one that is only locked",
			jobs: []string{"w:a run=2", "safe", "w:b"},
			want: []string{"0-2", "2-3", "3-4"},
		},
		{
			name: "safe ones together whatever they lock",
			jobs: []string{"safe w:a", "safe w:a", "safe r:a/b"},
			want: []string{"0-1", "0-1", "0-1"},
		},
		{
			name: "a locked one without locks touches nothing",
			jobs: []string{"w:a", "locked", "alone"},
			want: []string{"0-1", "0-1", "1-2"},
		},
		{
			name:  "plain batches take no notice of locks",
			rules: rules{plain: true},
			jobs:  []string{"w:a", "w:b", "safe w:c", "safe w:c"},
			want:  []string{"0-1", "1-2", "2-3", "2-3"},
		},
		{
			name: "one that is added later begins at once if it may",
			jobs: []string{"w:a run=3", "w:b added=1", "w:a added=2"},
			want: []string{"0-3", "1-2", "3-4"},
		},
	})
}

func TestWaitingForAPerson(t *testing.T) {
	t.Parallel()
	testRules(t, []ruleTest{
		{
			name:  "holds no slot",
			rules: rules{slots: 1},
			jobs:  []string{"safe ask=5", "safe", "safe"},
			want:  []string{"5-6", "0-1", "1-2"},
		},
		{
			name: "holds back what follows, if alone",
			jobs: []string{"alone ask=5", "safe"},
			want: []string{"5-6", "6-7"},
		},
		{
			name: "holds back what has a conflict, if locked",
			jobs: []string{"w:a ask=5", "w:b", "w:a/x", "w:c"},
			want: []string{"5-6", "0-1", "6-7", "6-7"},
		},
		{
			name:  "is first in line when it has been asked",
			rules: rules{slots: 1},
			jobs:  []string{"safe ask=1", "safe run=2", "safe run=2"},
			want:  []string{"2-3", "0-2", "3-5"},
		},
		{
			name:  "bounded in number",
			rules: rules{admitting: 2},
			jobs:  []string{"safe ask=5", "safe ask=5", "safe"},
			want:  []string{"5-6", "5-6", "5-6"},
		},
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()
	testRules(t, []ruleTest{
		{
			name:  "a sliding window, not waves",
			rules: rules{slots: 2},
			jobs:  []string{"safe run=3", "safe run=1", "safe run=1", "safe run=1"},
			want:  []string{"0-3", "0-1", "1-2", "2-3"},
		},
		{
			name:  "a group that is full is passed over",
			rules: rules{slots: 3, perGroup: 1},
			jobs:  []string{"safe group=a run=3", "safe group=a", "safe group=b", "safe", "safe group=b"},
			want:  []string{"0-3", "3-4", "0-1", "0-1", "1-2"},
		},
		{
			name:  "full memory leaves only the first to go on",
			rules: rules{slots: 1, maxHeld: 5},
			jobs:  []string{"safe yield=10", "safe holds=6", "safe", "safe"},
			want:  []string{"0-1", "1-2", "11-12", "12-13"},
		},
		{
			name:  "memory is free again when the result has left",
			rules: rules{slots: 2, maxHeld: 5},
			jobs:  []string{"safe holds=6 yield=3", "safe run=2", "safe", "safe"},
			want:  []string{"0-1", "0-2", "4-5", "4-5"},
		},
		{
			name:  "slots are those of the smaller",
			rules: rules{slots: 1, perGroup: 2},
			jobs:  []string{"safe group=a", "safe group=b"},
			want:  []string{"0-1", "1-2"},
		},
	})
}

func TestBehind(t *testing.T) {
	t.Parallel()
	testRules(t, []ruleTest{
		{
			name: "keeps what it locked",
			jobs: []string{"w:a behind=3", "w:b", "w:a", "w:b"},
			want: []string{"0-1", "0-1", "4-5", "4-5"},
		},
		{
			name: "keeps everything, if alone",
			jobs: []string{"alone behind=3", "safe"},
			want: []string{"0-1", "4-5"},
		},
		{
			name: "no longer than five seconds",
			jobs: []string{"w:a behind=60", "w:a"},
			want: []string{"0-1", "6-7"},
		},
		{
			name:  "holds no slot",
			rules: rules{slots: 1},
			jobs:  []string{"safe behind=3", "safe"},
			want:  []string{"0-1", "1-2"},
		},
		{
			name:  "does not keep what was queued from its failure",
			jobs:  []string{"w:a behind=3", "w:a"},
			stops: []stop{{interrupted, 2 * time.Second}},
			want:  []string{"0-1", "--2 interrupted"},
		},
	})
}
