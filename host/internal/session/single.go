package session

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/host/internal/turn"
	"github.com/toolquay/toolquay/scheduler"
)

// singles are the calls of a session that are of no message, such as those of a program
// that asks for one at a time from several places. Each is a turn of its own, and all of
// them that overlap are ordered together.
type singles struct {
	entering turn.Token // of the one that joins or begins a period
	mu       sync.Mutex
	now      *period
}

// period is a time in which single calls overlap. It has the session's turn, and the tools
// that there were when it began.
type period struct {
	session *Session
	jobs    *scheduler.Scheduler
	pool    *scheduler.Pool
	tools   tool.Set
	counts
	calls int // under way; the mutex of singles guards it
}

// join adds a call of a tool to those under way, or begins a period. It reports false if ctx
// ended first. A call of a tool that there is not in the period, or not as it is now, waits for
// the end of the period, which takes no more calls then.
func (s *Session) join(ctx context.Context, name string) (*period, bool) {
	if !s.singles.entering.Take(ctx) {
		return nil, false
	}
	defer s.singles.entering.Give()
	if p := s.singles.enter(s.Host.Plugins.Newest(), name); p != nil {
		return p, true
	}
	if !s.running.Take(ctx) {
		return nil, false
	}
	p := &period{session: s, calls: 1, tools: s.takeUp(), pool: newPool(&s.Host.tuned().Limits)}
	p.jobs = scheduler.New(s.Life.Context(), scheduler.Options{ //nolint:contextcheck // calls have contexts of their own
		Pool: p.pool, Table: &s.Host.Locks, Plain: s.Host.tuned().Limits.PlainBatches, NoInterrupt: true,
		Leftovers: scheduler.LeftoverOptions{Abandoned: abandoned}, Panicked: panicked,
	})
	s.singles.mu.Lock()
	defer s.singles.mu.Unlock()
	s.singles.now = p
	return p, true
}

// enter counts one more call in, if there is a period for it.
func (s *singles) enter(newest tool.Set, name string) *period {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.now
	if p == nil || !p.serves(newest, name) {
		s.now = nil
		return nil
	}
	p.calls++
	return p
}

// serves reports whether a call of a tool comes to the same in the period as with the newest
// tools: then it need not wait for other calls, which may last. All names of a tool lead to it
// alone, so that rules mean the same, too. What lists tools or loads skills is to see the newest.
func (p *period) serves(newest tool.Set, name string) bool {
	if p.tools == newest {
		return true
	}
	was, _ := p.tools.Find(name)
	is, has := newest.Find(name)
	return was == is && (!has || !loadsSkills(is) && !tool.BuiltInFor(is, abi.CapToolsList))
}

// leave counts a call out. The last one ends the period.
func (p *period) leave() {
	s := &p.session.singles
	s.mu.Lock()
	p.calls--
	last := p.calls == 0
	if last && s.now == p {
		s.now = nil
	}
	s.mu.Unlock()
	if last {
		p.jobs.Wait()
		p.tools.Release()
		p.session.running.Give()
	}
}

// Single runs a call that is of no message, beside others of its kind, and returns when its
// result has left. The caller's context is not that of a call of the session.
func (s *Session) Single(ctx context.Context, use abi.ToolUse, f Feed, l Listeners) {
	t := newTurn(ctx, s, 1, f, l)
	t.lending(func() {
		p, has := s.join(t.span.Ctx, use.Name)
		if has {
			t.period, t.tools.set, t.jobs, t.counts = p, p.tools, p.jobs, &p.counts
			t.left = make(chan struct{})
		} else {
			t.tools.set = s.Rules.View().Tools
			t.schedule() // which fails it
		}
		defer t.finish(has)
		pipeline.GrowStack()
		t.listeners.Began(t.span.Ctx)
		t.submit(t.span.Ctx, 0, use)
	})
}

// Runs reports whether a context is that of a call of the session.
func (s *Session) Runs(ctx context.Context) bool {
	for c := pipeline.Running(ctx); c != nil; c = turnOf(c).above {
		if turnOf(c).session == s {
			return true
		}
	}
	return false
}
