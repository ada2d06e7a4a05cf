package approvals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/host"
)

// DefaultQueue is how many questions may wait for a person at once.
const DefaultQueue = 64

// ErrQueue is that of a question that would have to wait behind too many.
var ErrQueue = errors.New("too many questions wait for the person")

// Coordinator lets many workers ask one person: sub-agents, sessions in the
// background. The person sees one question at a time, in the order in which they
// came, and who asks it. The same approval (the same binding, capability and
// accesses) asked for by several at once is put once, and all get its answer.
//
// A worker that is cancelled withdraws its question; the others that asked it
// still wait. Whether the answer or the cancellation came first is decided once
// for each worker.
type Coordinator struct {
	person host.Asker
	limit  int

	mu sync.Mutex
	// queue is what waits; the first is being asked while busy is set.
	queue []*question
	busy  bool
}

// question is one thing to ask, for those who asked it.
type question struct {
	key     string
	waiting []*waiter
	// ctx ends when nobody waits any more.
	ctx    context.Context //nolint:containedctx // it outlives the call that asked first
	cancel context.CancelFunc
}

// waiter is one worker's asking.
type waiter struct {
	worker   string
	question host.Question
	// outcome is given once, or never where the worker withdrew.
	outcome chan outcome
}

type outcome struct {
	reply host.Reply
	err   error
}

// NewCoordinator makes a coordinator for a person. At most limit questions wait;
// 0 is DefaultQueue.
func NewCoordinator(person host.Asker, limit int) *Coordinator {
	if limit <= 0 {
		limit = DefaultQueue
	}
	return &Coordinator{person: person, limit: limit}
}

// Worker is the asker of one worker, by the name that the person is shown; empty
// for the main one, of which nothing is said. A denial that ends the turn does so for
// the main one; of the others it denies the call.
func (c *Coordinator) Worker(name string) host.Asker {
	return asker{func(ctx context.Context, q host.Question) (host.Reply, error) {
		return c.ask(ctx, &waiter{worker: name, question: q, outcome: make(chan outcome, 1)})
	}, c.person.Carries}
}

// Waiting is the number of questions that wait for the person, the one being
// asked included.
func (c *Coordinator) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

func (c *Coordinator) ask(ctx context.Context, w *waiter) (host.Reply, error) {
	if ctx.Err() != nil {
		return host.Reply{}, context.Cause(ctx)
	}
	if err := c.enqueue(ctx, w); err != nil {
		return host.Reply{}, err
	}
	select {
	case o := <-w.outcome:
		return o.reply, o.err
	case <-ctx.Done():
	}
	if !c.withdraw(w) { // the answer was first
		o := <-w.outcome
		return o.reply, o.err
	}
	return host.Reply{}, context.Cause(ctx)
}

// enqueue joins a question that is the same, or adds one.
func (c *Coordinator) enqueue(ctx context.Context, w *waiter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := keyOf(&w.question)
	for _, q := range c.queue {
		if q.key == k && len(q.waiting) > 0 {
			q.waiting = append(q.waiting, w)
			return nil
		}
	}
	if len(c.queue) >= c.limit {
		return fmt.Errorf("%w: %d", ErrQueue, len(c.queue))
	}
	c.add(ctx, k, w)
	return nil
}

// add puts a question at the end. The lock is held.
func (c *Coordinator) add(ctx context.Context, key string, w *waiter) {
	q := &question{key: key, waiting: []*waiter{w}}
	q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.queue = append(c.queue, q)
	if !c.busy {
		c.busy = true
		go c.run()
	}
}

// keyOf is the same for the same question. What is no approval is no other's: an answer for
// one call is not meant for another.
func keyOf(q *host.Question) string {
	a := q.Approval
	if a == nil {
		return string(q.Kind) + strconv.Quote(q.ID)
	}
	part := partOf(q)
	digests := make([]string, len(part.Accesses))
	for i := range part.Accesses {
		digests[i] = part.Accesses[i].Digest
	}
	slices.Sort(digests)
	return strconv.Quote(a.Binding) + strconv.Quote(a.Capability) + strings.Join(digests, " ")
}

// withdraw takes a worker's question back. It reports false where the worker has
// its outcome.
func (c *Coordinator) withdraw(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, q := range c.queue {
		at := slices.Index(q.waiting, w)
		if at < 0 {
			continue
		}
		q.waiting = slices.Delete(q.waiting, at, at+1)
		if len(q.waiting) == 0 {
			q.cancel()
			if i > 0 { // the first is being asked: it goes when the person's asker returns
				c.queue = slices.Delete(c.queue, i, i+1)
			}
		}
		return true
	}
	return false
}

// run asks until nothing waits.
func (c *Coordinator) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 {
		q := c.queue[0]
		shown := q.shown()
		c.mu.Unlock()
		o := c.put(q.ctx, shown)
		c.mu.Lock()
		c.queue = slices.Delete(c.queue, 0, 1)
		c.settle(q, o)
	}
	c.busy = false
}

// put asks the person. An asker that panics has not been answered.
func (c *Coordinator) put(ctx context.Context, q host.Question) (o outcome) {
	if ctx.Err() != nil {
		return outcome{err: context.Cause(ctx)}
	}
	defer func() {
		if r := recover(); r != nil {
			o = outcome{err: fmt.Errorf("asking the person panicked: %v", r)}
		}
	}()
	o.reply, o.err = c.person.Ask(ctx, q)
	return o
}

// settle gives an outcome to everybody who still waits for it. The lock is held.
func (c *Coordinator) settle(q *question, o outcome) {
	defer q.cancel()
	for i, w := range q.waiting {
		switch {
		case i == 0:
		case o.err == nil && o.reply.Answer == host.AnswerLater:
			// It is kept under the first one's id; each needs its own.
			c.add(q.ctx, "", w)
			continue
		default:
			o.reply.Remember = nil // rules are added once
		}
		mine := o
		mine.reply.EndTurn = o.reply.EndTurn && w.worker == "" // of a worker only the call is denied
		w.outcome <- mine
	}
	q.waiting = nil
}

// shown is the question as the person sees it.
func (q *question) shown() host.Question {
	if len(q.waiting) == 0 {
		return host.Question{}
	}
	shown := q.waiting[0].question
	who := workerName(q.waiting[0].worker)
	if n := len(q.waiting) - 1; n > 0 {
		who = fmt.Sprintf("%s and %d more", who, n)
	}
	shown.Worker = who
	if shown.Approval != nil {
		a := *shown.Approval
		a.Worker, a.DenyEndsTurn = who, a.DenyEndsTurn && who == ""
		shown.Approval = &a
	}
	return shown
}

// maxName is the longest worker's name shown, in bytes.
const maxName = 40

// workerName is a name that can be told from the words around it: a model may
// have chosen it.
func workerName(name string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./#"
	if len(name) <= maxName && strings.Trim(name, plain) == "" {
		return name
	}
	return strconv.QuoteToASCII(name[:min(len(name), maxName)])
}
