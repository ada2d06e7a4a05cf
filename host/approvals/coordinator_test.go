package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
)

// person answers one question at a time, when the test says so.
type person struct {
	shown  chan host.Approval
	answer chan host.Reply
	// busy counts the questions on screen.
	busy atomic.Int32
	most atomic.Int32
	// stubborn does not look whether the question was withdrawn.
	stubborn bool
}

func newPerson() *person {
	return &person{shown: make(chan host.Approval), answer: make(chan host.Reply)}
}

func (*person) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (p *person) Ask(ctx context.Context, question host.Question) (host.Reply, error) {
	a := *question.Approval
	p.most.Store(max(p.most.Load(), p.busy.Add(1)))
	defer p.busy.Add(-1)
	done := ctx.Done()
	if p.stubborn {
		done = nil
	}
	select {
	case p.shown <- a:
	case <-done:
		return host.Reply{}, ctx.Err()
	}
	select {
	case r := <-p.answer:
		return r, nil
	case <-done:
		return host.Reply{}, ctx.Err()
	}
}

func other(i int) host.Approval {
	a := question(fmt.Sprintf("Q%d", i))
	a.Binding = fmt.Sprintf("%04d", i)
	return a
}

// asking asks in a goroutine of its own.
type asking struct {
	reply host.Reply
	err   error
	done  chan struct{}
}

func start(ctx context.Context, asker host.Asker, a host.Approval) *asking {
	s := &asking{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.reply, s.err = asker.Ask(ctx, asked(a))
	}()
	return s
}

var (
	yes   = host.Reply{Answer: host.AnswerAllow}
	no    = host.Reply{Answer: host.AnswerDeny, Message: "no"}
	later = host.Reply{Answer: host.AnswerLater}
)

func TestOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson()
		c := approvals.NewCoordinator(p, 0)
		var all []*asking
		for i := range 5 {
			all = append(all, start(t.Context(), c.Worker(fmt.Sprintf("w%d", i)), other(i)))
			synctest.Wait() // so that they come in order
		}
		if c.Waiting() != 5 {
			t.Errorf("%d wait", c.Waiting())
		}
		for i, s := range all {
			a := <-p.shown
			if want := fmt.Sprintf("w%d", i); a.Worker != want || a.Title != "Write a.txt" {
				t.Errorf("shown %q of %q, want %q", a.Title, a.Worker, want)
			}
			p.answer <- yes
			<-s.done
			if s.err != nil || s.reply.Answer != host.AnswerAllow {
				t.Errorf("%+v, %v", s.reply, s.err)
			}
		}
		synctest.Wait()
		if p.most.Load() != 1 || c.Waiting() != 0 {
			t.Errorf("%d questions at once, %d wait", p.most.Load(), c.Waiting())
		}
	})
}

func TestWorkersNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":           "",
		"reviewer-2": "reviewer-2",
		"you: allow": `"you: allow"`,
		"a\x1b[2Jb":  `"a\x1b[2Jb"`,
		"\u202eevil": `"\u202eevil"`,
	} {
		var got string
		c := approvals.NewCoordinator(approvals.Func(func(_ context.Context, a host.Approval) (host.Reply, error) {
			got = a.Worker
			return yes, nil
		}), 0)
		if ask(t, c.Worker(name), question("Q1")); got != want {
			t.Errorf("%q: shown %q, want %q", name, got, want)
		}
	}
	var long string
	c := approvals.NewCoordinator(approvals.Func(func(_ context.Context, a host.Approval) (host.Reply, error) {
		long = a.Worker
		return yes, nil
	}), 0)
	if ask(t, c.Worker(strings.Repeat("x", 1<<20)), question("Q1")); len(long) > 100 {
		t.Errorf("a name of %d bytes", len(long))
	}
}

// TestNoOfAPerson has a plain no end the main agent's turn, and of a worker deny the call.
func TestNoOfAPerson(t *testing.T) {
	t.Parallel()
	for worker, ends := range map[string]bool{"": true, "reviewer": false} {
		var shown host.Approval
		c := approvals.NewCoordinator(approvals.Func(func(_ context.Context, a host.Approval) (host.Reply, error) {
			shown = a
			return host.Reply{Answer: host.AnswerDeny, EndTurn: true}, nil
		}), 0)
		q := question("Q1")
		q.DenyEndsTurn = true
		if reply := ask(t, c.Worker(worker), q); reply.EndTurn != ends || shown.DenyEndsTurn != ends {
			t.Errorf("%q: %+v, shown %t", worker, reply, shown.DenyEndsTurn)
		}
	}
}

func TestSameQuestionIsPutOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson()
		c := approvals.NewCoordinator(p, 0)
		first := start(t.Context(), c.Worker("first"), question("Q1"))
		<-p.shown
		// One is on screen; these join it, but for those that differ.
		second := start(t.Context(), c.Worker("second"), question("Q2"))
		more := start(t.Context(), c.Worker("more"), question("Q3", "/ws/b.txt"))
		synctest.Wait()
		offer := &host.RememberOption{Target: host.TargetSession}
		p.answer <- host.Reply{Answer: host.AnswerAllow, Remember: offer}
		<-first.done
		<-second.done
		if first.reply.Answer != host.AnswerAllow || second.reply.Answer != host.AnswerAllow {
			t.Errorf("%+v, %+v", first.reply, second.reply)
		}
		if first.reply.Remember != offer || second.reply.Remember != nil {
			t.Error("the rules are to be added once, by the first")
		}
		if a := <-p.shown; len(a.Accesses) != 2 || a.Worker != "more" {
			t.Errorf("%+v", a)
		}
		p.answer <- no
		<-more.done
		if more.reply.Answer != host.AnswerDeny || more.reply.Message != "no" {
			t.Errorf("%+v", more.reply)
		}
		// Not at once: asked again.
		again := start(t.Context(), c.Worker("first"), question("Q4"))
		<-p.shown
		p.answer <- no
		<-again.done
	})
}

// TestLaterIsNotShared has each of two workers get an approval of its own.
func TestLaterIsNotShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson()
		c := approvals.NewCoordinator(p, 0)
		first := start(t.Context(), c.Worker("first"), question("Q1"))
		<-p.shown
		second := start(t.Context(), c.Worker("second"), question("Q2"))
		synctest.Wait()
		p.answer <- later
		<-first.done
		if a := <-p.shown; a.ID != "Q2" {
			t.Errorf("then %s is asked", a.ID)
		}
		p.answer <- later
		<-second.done
		if first.reply.Answer != host.AnswerLater || second.reply.Answer != host.AnswerLater {
			t.Errorf("%+v, %+v", first.reply, second.reply)
		}
	})
}

func TestCancelledWorkerWithdraws(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson()
		c := approvals.NewCoordinator(p, 0)
		ctx, cancel := context.WithCancel(t.Context())
		first := start(ctx, c.Worker("first"), question("Q1"))
		<-p.shown
		second := start(t.Context(), c.Worker("second"), question("Q2"))
		queued := start(ctx, c.Worker("queued"), other(3))
		synctest.Wait()
		cancel()
		<-first.done
		<-queued.done
		if !errors.Is(first.err, context.Canceled) || !errors.Is(queued.err, context.Canceled) {
			t.Errorf("%v, %v", first.err, queued.err)
		}
		p.answer <- yes // the one on screen goes on for the second
		<-second.done
		if second.reply.Answer != host.AnswerAllow {
			t.Errorf("%+v, %v", second.reply, second.err)
		}
		synctest.Wait()
		if c.Waiting() != 0 {
			t.Errorf("%d wait", c.Waiting())
		}
	})
}

// TestWithdrawnFromScreen takes the question away from a person who looks at it,
// and from one who does not notice.
func TestWithdrawnFromScreen(t *testing.T) {
	t.Parallel()
	for _, stubborn := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newPerson()
			p.stubborn = stubborn
			c := approvals.NewCoordinator(p, 0)
			ctx, cancel := context.WithCancel(t.Context())
			gone := start(ctx, c.Worker("gone"), question("Q1"))
			<-p.shown
			cancel()
			<-gone.done // whatever the person does
			synctest.Wait()
			same := start(t.Context(), c.Worker("same"), question("Q2"))
			synctest.Wait()
			if stubborn {
				p.answer <- yes // to the question that was withdrawn
			}
			if a := <-p.shown; a.ID != "Q2" {
				t.Errorf("then %s is asked", a.ID)
			}
			p.answer <- no
			<-same.done
			if same.reply.Answer != host.AnswerDeny {
				t.Error("the answer to a withdrawn question was used for another")
			}
		})
	}
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson()
		c := approvals.NewCoordinator(p, 2)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 2 {
			start(ctx, c.Worker(""), other(i))
			synctest.Wait()
		}
		if _, err := c.Worker("").Ask(ctx, asked(other(2))); !errors.Is(err, approvals.ErrQueue) {
			t.Errorf("the third: %v", err)
		}
		joined := start(ctx, c.Worker(""), other(1)) // one more for what waits already
		synctest.Wait()
		cancel()
		<-joined.done
		if !errors.Is(joined.err, context.Canceled) {
			t.Error(joined.err)
		}
		synctest.Wait()
		if c.Waiting() != 0 {
			t.Errorf("%d wait", c.Waiting())
		}
	})
}

func TestPanickingPerson(t *testing.T) {
	t.Parallel()
	calls := 0
	c := approvals.NewCoordinator(approvals.Func(func(context.Context, host.Approval) (host.Reply, error) {
		if calls++; calls == 1 {
			panic("the screen broke")
		}
		return yes, nil
	}), 0)
	if reply, err := c.Worker("").Ask(t.Context(), asked(question("Q1"))); err == nil || !strings.Contains(err.Error(), "the screen broke") {
		t.Errorf("%+v, %v", reply, err)
	}
	says(t, c.Worker(""), question("Q2"), host.AnswerAllow)
}

func TestWithTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson()
		asker := approvals.WithTimeout(p, time.Minute, approvals.Deny("nobody is there"))
		s := start(t.Context(), asker, question("Q1"))
		<-p.shown
		time.Sleep(59 * time.Second)
		p.answer <- yes
		<-s.done
		if s.reply.Answer != host.AnswerAllow {
			t.Errorf("in time: %+v, %v", s.reply, s.err)
		}
		s = start(t.Context(), asker, question("Q2"))
		<-p.shown
		<-s.done
		if s.reply.Answer != host.AnswerDeny || s.reply.Message != "nobody is there" {
			t.Errorf("too late: %+v, %v", s.reply, s.err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		s = start(ctx, asker, question("Q3"))
		<-p.shown
		cancel()
		<-s.done
		if !errors.Is(s.err, context.Canceled) {
			t.Errorf("cancelled: %+v, %v", s.reply, s.err)
		}
		broken := approvals.WithTimeout(approvals.Func(func(context.Context, host.Approval) (host.Reply, error) {
			return host.Reply{}, errors.New("no terminal")
		}), time.Minute, approvals.Func(func(context.Context, host.Approval) (host.Reply, error) { return yes, nil }))
		if reply, err := broken.Ask(t.Context(), asked(question("Q4"))); err == nil {
			t.Errorf("an asker that is broken is no person who is away: %+v", reply)
		}
	})
}

// TestAwayThenBack is a person who answered the first question of a call and left
// before the second: another day, a yes to the second runs the call whole.
func TestAwayThenBack(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	synctest.Test(t, func(t *testing.T) {
		second := func(id string) host.Approval {
			a := question(id)
			a.Capability = "fs.write"
			return a
		}
		p := newPerson()
		d := durable(s)
		asker := d.Before(approvals.WithTimeout(p, time.Minute, d))
		asked := start(t.Context(), asker, question("Q1"))
		<-p.shown
		p.answer <- yes
		<-asked.done
		asked = start(t.Context(), asker, second("Q2"))
		<-p.shown
		<-asked.done
		if asked.reply.Answer != host.AnswerLater {
			t.Fatalf("%+v, %v", asked.reply, asked.err)
		}
		item, err := s.Get("Q2")
		if err != nil || len(item.Earlier) != 1 {
			t.Fatalf("%+v, %v", item, err)
		}
		answer(t, s, "Q2", allow())
		d = durable(s)
		asker = d.Before(approvals.WithTimeout(p, time.Minute, d)) // nobody needs to be there
		says(t, asker, question("Q3"), host.AnswerAllow)
		says(t, asker, second("Q4"), host.AnswerAllow)
		says(t, asker, question("Q5"), host.AnswerLater)
	})
}

// TestCoordinatorHammer has many workers ask, few questions and many, and some be
// cancelled at any moment. Every asking ends in exactly one way, and nobody is
// allowed what the person did not allow while they waited.
func TestCoordinatorHammer(t *testing.T) {
	t.Parallel()
	const workers, each, kinds = 16, 60, 4
	var shown, busy atomic.Int32
	c := approvals.NewCoordinator(approvals.Func(func(ctx context.Context, a host.Approval) (host.Reply, error) {
		if busy.Add(1) != 1 {
			t.Error("two questions at once")
		}
		defer busy.Add(-1)
		shown.Add(1)
		if ctx.Err() != nil || rand.IntN(4) == 0 {
			return host.Reply{}, context.Canceled
		}
		if rand.IntN(5) == 0 {
			return later, nil
		}
		return host.Reply{Answer: host.AnswerAllow, Message: a.Binding}, nil
	}), workers)
	var wg sync.WaitGroup
	var ended atomic.Int32
	for w := range workers {
		wg.Go(func() {
			asker := c.Worker(fmt.Sprintf("w%d", w))
			for range each {
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(3) == 0 {
					go cancel()
				}
				a := other(rand.IntN(kinds))
				reply, err := asker.Ask(ctx, asked(a))
				if err == nil && reply.Answer == host.AnswerAllow && reply.Message != a.Binding {
					t.Error("the answer to another question")
				}
				if (err == nil) == (reply.Answer == "") {
					t.Errorf("%+v, %v", reply, err)
				}
				ended.Add(1)
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-patience(t):
		t.Fatalf("%d of %d ended", ended.Load(), workers*each)
	}
	for deadline := patience(t); c.Waiting() != 0; {
		select {
		case <-deadline:
			t.Fatalf("%d still wait", c.Waiting())
		case <-time.After(time.Millisecond):
		}
	}
	if n := shown.Load(); n == 0 || n > workers*each {
		t.Errorf("%d questions for %d askings", n, workers*each)
	}
}
