package scheduler_test

import (
	"testing"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

func TestCascade(t *testing.T) {
	t.Parallel()
	batch, turn, off := rules{}, rules{cascade: scheduler.CascadeTurn}, rules{cascade: scheduler.CascadeOff}
	two := []string{
		"safe cascade fails", "safe cascade run=5", "safe run=3", "safe cascade ask=5",
		"alone", "safe cascade",
	}
	testRules(t, []ruleTest{
		{
			name: "within the batch", rules: batch, jobs: two,
			want: []string{"0-1 failed", "0-1 cascade of 0", "0-3", "--1 cascade of 0", "3-4", "4-5"},
		},
		{
			name: "for the rest of the turn", rules: turn, jobs: two,
			want: []string{"0-1 failed", "0-1 cascade of 0", "0-3", "--1 cascade of 0", "3-4", "--1 cascade of 0"},
		},
		{
			name: "off", rules: off, jobs: two,
			want: []string{"0-1 failed", "0-5", "0-3", "5-6", "6-7", "7-8"},
		},
		{
			name:  "those that wait for a slot",
			rules: rules{slots: 1},
			jobs:  []string{"safe cascade fails", "safe cascade", "safe"},
			want:  []string{"0-1 failed", "--1 cascade of 0", "1-2"},
		},
		{
			name:  "those in the queue, before the next that runs alone",
			rules: rules{admitting: 1},
			jobs:  []string{"safe cascade fails", "safe ask=3", "safe cascade", "alone", "safe cascade"},
			want:  []string{"0-1 failed", "3-4", "--1 cascade of 0", "4-5", "5-6"},
		},
		{
			name: "those added later to the batch",
			jobs: []string{"safe cascade fails", "safe cascade added=2", "safe added=2"},
			want: []string{"0-1 failed", "--2 cascade of 0", "2-3"},
		},
		{
			name: "one that runs alone has no siblings",
			jobs: []string{"alone cascade fails", "alone cascade", "safe cascade"},
			want: []string{"0-1 failed", "1-2", "2-3"},
		},
		{
			name:  "one that runs alone ends the turn",
			rules: turn,
			jobs:  []string{"alone cascade fails", "alone cascade", "safe"},
			want:  []string{"0-1 failed", "--1 cascade of 0", "1-2"},
		},
		{
			name: "a failure without the trait",
			jobs: []string{"safe fails", "safe cascade run=2"},
			want: []string{"0-1 failed", "0-2"},
		},
		{
			name: "locked ones are of the batch too",
			jobs: []string{"w:a cascade fails", "w:b cascade run=3", "w:a cascade", "w:b"},
			want: []string{"0-1 failed", "0-1 cascade of 0", "--1 cascade of 0", "1-2"},
		},
		{
			name: "what blocks an interrupt does not block a cascade",
			jobs: []string{"safe cascade fails", "safe cascade block run=3"},
			want: []string{"0-1 failed", "0-1 cascade of 0"},
		},
		{
			name: "a batch after one with a failure is not cancelled",
			jobs: []string{"safe cascade fails", "alone", "safe cascade fails", "safe cascade run=2", "alone"},
			want: []string{"0-1 failed", "1-2", "2-3 failed", "2-3 cascade of 2", "3-4"},
		},
	})
}

// at is a stop after so many seconds.
func at(kind string, seconds float64) []stop {
	return []stop{{kind, time.Duration(seconds * float64(time.Second))}}
}

func TestInterruptTable(t *testing.T) {
	t.Parallel()
	jobs := []string{
		"safe run=1", "safe run=5", "safe block run=5", // complete, and running
		"safe ask=5", "safe block ask=5", // being admitted
		"alone", "alone block", // queued
		"safe added=3", "safe block added=3", // added later
	}
	testRules(t, []ruleTest{
		{
			name: "interrupt", jobs: jobs, stops: at(interrupted, 2),
			want: []string{
				"0-1", "0-2 interrupted", "0-5",
				"--2 interrupted", "--2 interrupted",
				"--2 interrupted", "--2 interrupted",
				"--3 interrupted", "--3 interrupted",
			},
		},
		{
			name: "cancel", jobs: jobs, stops: at(cancelled, 2),
			want: []string{
				"0-1", "0-2 cancelled", "0-2 cancelled",
				"--2 cancelled", "--2 cancelled",
				"--2 cancelled", "--2 cancelled",
				"--3 cancelled", "--3 cancelled",
			},
		},
		{
			name: "discard", jobs: jobs, stops: at(discarded, 2),
			want: []string{
				"0-1", "0-2 discarded, dropped", "0-2 discarded, dropped",
				"--2 discarded, dropped", "--2 discarded, dropped",
				"--2 discarded, dropped", "--2 discarded, dropped",
				"--3 discarded, dropped", "--3 discarded, dropped",
			},
		},
		{
			name:  "those that wait for a slot",
			rules: rules{slots: 1},
			jobs:  []string{"safe block run=3", "safe block", "safe"},
			stops: at(interrupted, 1),
			want:  []string{"0-3", "--1 interrupted", "--1 interrupted"},
		},
		{
			name:  "those that wait for memory",
			rules: rules{slots: 1, maxHeld: 1},
			jobs:  []string{"safe yield=9 holds=2", "safe"},
			stops: at(interrupted, 2),
			want:  []string{"0-1", "--2 interrupted"},
		},
		{
			name:  "an interrupt, then a cancel",
			jobs:  []string{"safe block run=5", "safe run=5", "safe added=4"},
			stops: append(at(interrupted, 1), at(cancelled, 2)...),
			want:  []string{"0-2 cancelled", "0-1 interrupted", "--4 interrupted"},
		},
		{
			name:  "an interrupt, then a discard",
			jobs:  []string{"safe block run=5", "safe run=5"},
			stops: append(at(interrupted, 1), at(discarded, 2)...),
			want:  []string{"0-2 discarded, dropped", "0-1 interrupted, dropped"},
		},
		{
			name:  "before anything was added",
			jobs:  []string{"safe added=2"},
			stops: at(interrupted, 1),
			want:  []string{"--2 interrupted"},
		},
		{
			name:  "what leaves just now does so in spite of a discard",
			jobs:  []string{"safe yield=3", "safe"},
			stops: at(discarded, 2),
			want:  []string{"0-1", "0-1, dropped"},
		},
	})
}
