package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// independents are jobs that each stand for themselves, and notes of what they do.
type independents struct {
	parties
	s *scheduler.Scheduler
}

// add adds a job that takes a second, and returns how it ends.
func (p *independents) add(j *funcJob) (end context.CancelCauseFunc) {
	p.t.Helper()
	ctx, end := context.WithCancelCause(p.t.Context())
	j.fail = func(err error) { p.note("!" + j.name + " " + err.Error()) }
	j.yield = func() { p.note("=" + j.name) }
	if err := p.s.AddIndependent(ctx, j); err != nil {
		p.t.Error(err)
	}
	synctest.Wait()
	time.Sleep(time.Millisecond)
	return end
}

// wait waits for all jobs, and wants these notes.
func (p *independents) wait(want ...string) {
	p.t.Helper()
	p.s.Wait()
	if !slices.Equal(p.events, want) {
		p.t.Errorf("%q, want %q", p.events, want)
	}
}

func independently(t *testing.T, do func(p *independents)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		do(&independents{parties{t: t}, scheduler.New(t.Context(), scheduler.Options{NoInterrupt: true})})
	})
}

// Results leave as they come, and jobs keep to the law.
func TestIndependent(t *testing.T) {
	independently(t, func(p *independents) {
		slow := p.job("slow", "/a")
		slow.run = func(context.Context) { p.note("+slow"); time.Sleep(time.Minute); p.note("-slow") }
		p.add(slow)
		p.add(p.job("quick", "/a"))
		p.add(p.job("conflict", "/a!"))
		p.wait("+slow", "+quick", "-quick", "=quick", "-slow", "=slow", "+conflict", "-conflict", "=conflict")
	})
}

// A job ends with its own context, wherever it is, and no other does.
func TestIndependentEnds(t *testing.T) {
	independently(t, func(p *independents) {
		running := p.job("running", "/a!")
		running.run = func(ctx context.Context) { p.note("+running"); <-ctx.Done(); p.note("-running") }
		end := p.add(running)
		endQueued := p.add(p.job("queued", "/a!"))
		p.add(p.job("behind", "/a"))
		endQueued(errors.New("over"))
		synctest.Wait()
		end(nil)
		p.wait("+running", "!queued over", "=queued", "-running", "=running", "+behind", "-behind", "=behind")
	})
}

// A job that must run alone, as it turned out, ends while it waits for that.
func TestIndependentDemoted(t *testing.T) {
	independently(t, func(p *independents) {
		p.add(p.job("other", "/b"))
		demoted := p.job("demoted", "/a")
		demoted.admit = func(context.Context) bool { demoted.unsafe, demoted.traits.Locked = true, false; return true }
		end := p.add(demoted)
		end(errors.New("over"))
		p.wait("+other", "!demoted over", "=demoted", "-other", "=other")
	})
}

// A result that nobody takes holds no other back, and its job holds nothing.
func TestIndependentReaders(t *testing.T) {
	independently(t, func(p *independents) {
		read := make(chan struct{})
		stuck := p.job("stuck", "/a!")
		stuck.yield = func() { <-read; p.note("=stuck") }
		if err := p.s.AddIndependent(p.t.Context(), stuck); err != nil {
			p.t.Error(err)
		}
		synctest.Wait()
		p.add(p.job("next", "/a!"))
		time.Sleep(time.Minute)
		close(read)
		p.wait("+stuck", "-stuck", "+next", "-next", "=next", "=stuck")
	})
}

// The end of the scheduler's context ends all, and each is settled and leaves once.
func TestIndependentEndTogether(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		g := newGenerator(seed)
		ctx, cancel := context.WithCancel(t.Context())
		s := scheduler.New(ctx, scheduler.Options{MaxConcurrent: 2, NoInterrupt: true})
		jobs := 1 + g.IntN(30)
		var settled, left atomic.Int32
		for range jobs {
			own, end := context.WithCancel(ctx)
			t.Cleanup(end)
			j := &funcJob{traits: g.traits(), unsafe: g.oneIn(2)}
			j.settle = func() { settled.Add(1) }
			j.yield = func() { left.Add(1) }
			if g.oneIn(4) {
				j.admit = func(context.Context) bool { j.unsafe = true; return true }
			}
			if err := s.AddIndependent(own, j); err != nil {
				t.Error(err)
			}
			if g.oneIn(5) {
				go end()
			}
		}
		if g.oneIn(3) {
			go cancel()
		}
		s.Wait()
		if settled.Load() != int32(jobs) || left.Load() != int32(jobs) {
			t.Errorf("%d: of %d jobs %d were settled and %d left", seed, jobs, settled.Load(), left.Load())
		}
		cancel()
	}
}
