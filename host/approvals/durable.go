package approvals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host"
)

// Durable asks by keeping the question: [host.AnswerLater] is what it says to one
// that nobody has answered, and the call ends. When the same call comes again it
// gives the answer, once.
//
// A call that asks again while it runs is begun anew when that question is
// answered, so the record of that question lists what the person had allowed
// before, and a yes holds for each of these once more.
type Durable struct {
	store  *Store
	resume Resume

	mu   sync.Mutex
	runs map[run]*progress
}

var _ host.Asker = (*Durable)(nil)

// run names one run of a call.
type run struct{ session, call, binding string }

// progress is how far a run is.
type progress struct {
	// given are the questions that were answered with yes.
	given []Part
	// open are those that were answered in advance.
	open []Part
}

// maxRuns bounds the runs remembered: of one that is forgotten, the earlier
// questions are asked again.
const maxRuns = 1000

// NewDurable makes an asker that keeps its questions in a store. Resume goes
// into each of them.
func NewDurable(store *Store, resume Resume) *Durable {
	return &Durable{store: store, resume: resume, runs: make(map[run]*progress)}
}

// Ask gives the recorded answer, or records the question.
func (d *Durable) Ask(ctx context.Context, a host.Approval) (host.Reply, error) {
	if a.Session == "" || a.Binding == "" || !validID(a.ID) {
		return host.Reply{}, errors.New("a question without a session, binding or id cannot be kept for later")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, part := d.progress(&a), partOf(&a)
	reply, found, err := d.recorded(ctx, &a, p, &part)
	if err != nil || found {
		return reply, err
	}
	record := newRecord(&a, p.given, d.resume, time.Now().Add(d.store.options.Lifetime))
	reply, found, err = d.keep(ctx, &a, p, record)
	if err != nil {
		return host.Reply{}, fmt.Errorf("keeping the question for later: %w", err)
	}
	if !found {
		delete(d.runs, runOf(&a)) // the call ends with this
		reply = host.Reply{Answer: host.AnswerLater}
	}
	return reply, nil
}

// keep records a question in place of those that it repeats. If one of them was
// answered at the last moment, that is the answer.
func (d *Durable) keep(ctx context.Context, a *host.Approval, p *progress, r *Record) (reply host.Reply, found bool, err error) {
	if err := d.store.save(r); err != nil {
		return reply, false, err
	}
	late, err := d.replace(r)
	if err != nil || !late {
		return reply, false, err
	}
	if reply, found, err = d.recorded(ctx, a, p, &r.Part); found {
		err = d.store.dir.remove(nameOf(r))
	}
	return reply, found, err
}

// Before is an asker that gives the recorded answers, and else asks the person.
// With it, what the person allows is known to a question that d is asked later in
// the same run:
//
//	asker := d.Before(WithTimeout(person, limit, d))
func (d *Durable) Before(person host.Asker) host.Asker {
	return Func(func(ctx context.Context, a host.Approval) (host.Reply, error) {
		part := partOf(&a)
		d.mu.Lock()
		p := d.progress(&a)
		reply, found, err := d.recorded(ctx, &a, p, &part)
		d.mu.Unlock()
		if err != nil || found {
			return reply, err
		}
		if reply, err = person.Ask(ctx, a); err == nil && reply.Answer == host.AnswerAllow {
			d.mu.Lock()
			defer d.mu.Unlock()
			p.give(part)
		}
		return reply, err
	})
}

func runOf(a *host.Approval) run { return run{a.Session, a.CallID, a.Binding} }

// progress is that of the run that asks; a question about the call itself begins
// one.
func (d *Durable) progress(a *host.Approval) *progress {
	r := runOf(a)
	if d.runs[r] == nil || a.Capability == "" {
		if len(d.runs) >= maxRuns {
			clear(d.runs)
		}
		d.runs[r] = &progress{}
	}
	return d.runs[r]
}

// give notes that a question was answered with yes. Of the same one, once is
// enough: a run does not ask it again.
func (p *progress) give(part Part) {
	if covering(p.given, &part) < 0 {
		p.given = append(p.given, part)
	}
}

func covering(parts []Part, q *Part) int {
	return slices.IndexFunc(parts, func(p Part) bool { return p.covers(q) })
}

// recorded gives an answer that is there already: the rest of one that was used
// by an earlier question of the run, or one on record. The lock is held.
func (d *Durable) recorded(ctx context.Context, a *host.Approval, p *progress, part *Part) (reply host.Reply, found bool, err error) {
	if ctx.Err() != nil { // no answer is used up for a call that is over
		return reply, false, context.Cause(ctx)
	}
	if at := covering(p.open, part); at >= 0 {
		p.open = slices.Delete(p.open, at, at+1)
		p.give(*part)
		return host.Reply{Answer: host.AnswerAllow}, true, nil
	}
	return d.answer(a, p, part)
}

// answer looks for an answer on record and uses it up.
func (d *Durable) answer(a *host.Approval, p *progress, part *Part) (reply host.Reply, found bool, err error) {
	items, err := d.store.of(a.Session, a.Binding)
	if err != nil {
		return reply, false, err
	}
	for i := range items {
		item := &items[i]
		parts := item.parts()
		at := covering(parts, part)
		if at < 0 || item.State != StateAllowed && item.State != StateDenied {
			continue
		}
		won, err := d.store.dir.use(nameOf(&item.Record))
		if err != nil {
			return reply, false, fmt.Errorf("using the answer to approval %s: %w", item.ID, err)
		}
		if !won {
			continue
		}
		if item.State == StateAllowed {
			p.open = append(p.open, slices.Delete(parts, at, at+1)...)
			p.give(*part)
		}
		// What is left behind says that it was used, and is swept later.
		_ = d.store.dir.remove(nameOf(&item.Record))
		return host.Reply{
			Answer: item.Answer.Answer, Message: item.Answer.Message, EndTurn: item.Answer.EndTurn,
			Remember: item.option(item.Answer.Remember),
		}, true, nil
	}
	return reply, false, nil
}

// replace withdraws the open questions that a new one repeats, so that a person
// answers it once and under the id that the call ended with. Those that are newer
// still, of another process, replace this one. It reports whether a person
// answered one meanwhile.
func (d *Durable) replace(r *Record) (late bool, err error) {
	items, err := d.store.of(r.Session, r.Binding)
	if err != nil {
		return false, err
	}
	for i := range items {
		item := &items[i]
		if compare(&item.Record, r) >= 0 {
			break
		}
		n := nameOf(&item.Record)
		switch {
		case item.State == StateReplaced: // before the one that is replaced now
			err = d.store.dir.remove(n)
		case item.State == StatePending && (item.covers(&r.Part) || r.covers(&item.Part)):
			var won bool
			won, err = d.store.dir.putAnswer(n, Answer{Answer: answerReplaced, By: r.ID, At: time.Now().UTC()})
			late = late || !won
		}
		if err != nil {
			return late, err
		}
	}
	return late, nil
}

func nameOf(r *Record) name {
	return name{key: key(r.Session, r.Binding), id: r.ID, kind: kindQuestion}
}
