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

// Carries is true of every kind.
func (*Durable) Carries(kind host.QuestionKind) bool { return slices.Contains(host.Kinds(), kind) }

// run names one run of a call.
type run struct{ session, call, binding string }

// progress is how far a run is.
type progress struct {
	// given are the approvals that were given, and the other questions that were answered.
	given []Part
	// open are those that were answered in advance.
	open []answeredPart
}

type answeredPart struct {
	Part

	reply host.Reply
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
func (d *Durable) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	switch {
	case !slices.Contains(host.Kinds(), q.Kind):
		return host.Reply{}, host.ErrNobody
	case q.Session == "" || q.Binding == "" || !validID(q.ID):
		return host.Reply{}, errors.New("a question without a session, binding or id cannot be kept for later")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, part := d.progress(&q), partOf(&q)
	reply, found, err := d.recorded(ctx, &q, p, &part)
	if err != nil || found {
		return reply, err
	}
	record := newRecord(&q, p.given, d.resume, time.Now().Add(d.store.options.Lifetime))
	reply, found, err = d.keep(ctx, &q, p, record)
	if err != nil {
		return host.Reply{}, fmt.Errorf("keeping the question for later: %w", err)
	}
	if !found {
		delete(d.runs, runOf(&q)) // the call ends with this
		reply = host.Reply{Answer: host.AnswerLater}
	}
	return reply, nil
}

// keep records a question in place of those that it repeats. If one of them was
// answered at the last moment, that is the answer.
func (d *Durable) keep(ctx context.Context, q *host.Question, p *progress, r *Record) (reply host.Reply, found bool, err error) {
	if err := d.store.save(r); err != nil {
		return reply, false, err
	}
	late, err := d.replace(r)
	if err != nil || !late {
		return reply, false, err
	}
	if reply, found, err = d.recorded(ctx, q, p, &r.Part); found {
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
	return asker{func(ctx context.Context, q host.Question) (host.Reply, error) {
		if !slices.Contains(host.Kinds(), q.Kind) {
			return person.Ask(ctx, q)
		}
		part := partOf(&q)
		d.mu.Lock()
		p := d.progress(&q)
		reply, found, err := d.recorded(ctx, &q, p, &part)
		d.mu.Unlock()
		if err != nil || found {
			return reply, err
		}
		if reply, err = person.Ask(ctx, q); err == nil && reply.Answer != host.AnswerLater {
			d.mu.Lock()
			defer d.mu.Unlock()
			p.give(part.with(reply))
		}
		return reply, err
	}, person.Carries}
}

func runOf(q *host.Question) run { return run{q.Session, q.Call, q.Binding} }

// progress is that of the run that asks; an approval of the call itself begins
// one.
func (d *Durable) progress(q *host.Question) *progress {
	r := runOf(q)
	if d.runs[r] == nil || q.Approval != nil && q.Approval.Capability == "" {
		if len(d.runs) >= maxRuns {
			clear(d.runs)
		}
		d.runs[r] = &progress{}
	}
	return d.runs[r]
}

// give notes an answer, but for an approval that was not given. Of the same question, once is
// enough: a run does not ask it again.
func (p *progress) give(part Part) {
	if (part.Kind != "" || !part.Declined) && covering(p.given, &part) < 0 {
		p.given = append(p.given, part)
	}
}

func covering(parts []Part, q *Part) int {
	return slices.IndexFunc(parts, func(p Part) bool { return p.covers(q) })
}

// recorded gives an answer that is there already: the rest of one that was used
// by an earlier question of the run, or one on record. The lock is held.
func (d *Durable) recorded(ctx context.Context, q *host.Question, p *progress, part *Part) (reply host.Reply, found bool, err error) {
	if ctx.Err() != nil { // no answer is used up for a call that is over
		return reply, false, context.Cause(ctx)
	}
	at := slices.IndexFunc(p.open, func(a answeredPart) bool { return a.covers(part) })
	if at >= 0 {
		earlier := p.open[at]
		p.open = slices.Delete(p.open, at, at+1)
		p.give(earlier.Part)
		return earlier.reply, true, nil
	}
	return d.answer(q, p, part)
}

// answer looks for an answer on record and uses it up.
func (d *Durable) answer(q *host.Question, p *progress, part *Part) (reply host.Reply, found bool, err error) {
	items, err := d.store.of(q.Session, q.Binding)
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
		// What is left behind says that it was used, and is swept later.
		_ = d.store.dir.remove(nameOf(&item.Record))
		return p.take(item, parts, at), true, nil
	}
	return reply, false, nil
}

// take gives the answer to the part of an item that is asked now. The answers to its others
// are open, until the run comes there; but where an approval was denied, all of them are.
func (p *progress) take(item *Item, parts []Part, at int) host.Reply {
	said := host.Reply{
		Answer: item.Answer.Answer, Message: item.Answer.Message, EndTurn: item.Answer.EndTurn,
		Remember: item.option(item.Answer.Remember), Content: item.Answer.Content,
	}
	last := len(parts) - 1
	if parts[at].Kind == "" && item.Kind == "" {
		if item.State == StateDenied {
			return said
		}
		parts[last] = parts[last].with(host.Reply{Answer: host.AnswerAllow})
		p.leave(parts, at)
		return said // with what is to be remembered
	}
	parts[last] = parts[last].with(said)
	reply := p.leave(parts, at)
	if at == last {
		return said
	}
	p.open[len(p.open)-1].reply = said
	return reply
}

// leave leaves the answers to all parts but one open, and returns that one's.
func (p *progress) leave(parts []Part, at int) host.Reply {
	for i, part := range parts {
		if i != at {
			p.open = append(p.open, answeredPart{part, part.reply()})
		}
	}
	p.give(parts[at])
	return parts[at].reply()
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
