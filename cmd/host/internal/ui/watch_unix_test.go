//go:build unix

package ui

import (
	"context"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
)

// TestWatchGivesWayToQuestions hands on keys while nobody is asked, and none that answers a
// question.
func TestWatchGivesWayToQuestions(t *testing.T) {
	s := newDesk(t)
	usual, a := s.modes(), s.asker()
	keys := make(chan rune, 100)
	end := a.Watch(t.Context(), func(key rune) { keys <- key })
	pressed := func(key rune) {
		t.Helper()
		s.insist(string(key), func() bool { return len(keys) > 0 })
		for len(keys) > 0 {
			if got := <-keys; got != key {
				t.Errorf("%q was pressed, not %q", got, key)
			}
		}
	}
	pressed('p')
	for i := range 3 {
		out := s.ask(t.Context(), a, command("make all"))
		s.waitFor("tell the model why", i+1)
		s.insist("y", func() bool { return len(out) > 0 })
		if got := <-out; got.err != nil || got.reply.Answer != host.AnswerAllow {
			t.Fatalf("got %+v", got)
		}
		for len(keys) > 0 { // one that was pressed too often may come after the answer
			if got := <-keys; got != 'y' {
				t.Errorf("%q was pressed", got)
			}
		}
	}
	s.insist("b", func() bool { return len(keys) > 0 && <-keys == 'b' })
	end()
	if s.modes() != usual {
		t.Error("the terminal is not left as it was found")
	}
}

// TestAbandonedKeys leaves the terminal as it was found, though somebody reads it yet.
func TestAbandonedKeys(t *testing.T) {
	s := newDesk(t)
	usual, a := s.modes(), s.asker()
	end := a.Watch(t.Context(), func(rune) {})
	s.until("keys are read", func() bool { return s.modes() != usual })
	a.Abandon()
	if s.modes() != usual {
		t.Error("the terminal is not left as it was found")
	}
	end()
	a.Watch(t.Context(), func(rune) { t.Error("a key was read") })()
	if s.modes() != usual {
		t.Error("the terminal was taken again")
	}
}

// TestWatchEnds with its context, and while a question is put.
func TestWatchEnds(t *testing.T) {
	s := newDesk(t)
	usual, a := s.modes(), s.asker()
	ctx, cancel := context.WithCancel(t.Context())
	end := a.Watch(ctx, func(rune) {})
	out := s.ask(ctx, a, command("make all"))
	s.waitFor("tell the model why", 1)
	cancel()
	end()
	if got := <-out; got.err == nil {
		t.Errorf("got %+v of a question that is over", got)
	}
	for s.modes() != usual {
		time.Sleep(time.Millisecond)
	}
	// Where keys need Enter nothing is read.
	p, _ := printer(0, false)
	NewAsker(p, typed(t, "p\n")).Watch(t.Context(), func(rune) { t.Error("a line was taken for a key") })()
}
