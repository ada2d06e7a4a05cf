package warm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Pool keeps shells ready, and may be used by many at once.
type Pool struct {
	options Options

	mu sync.Mutex
	// idle are ready to be used, the longest unused first.
	idle []*shell
	// busy run commands.
	busy map[*shell]bool
	// count is how many there are, those in use and being started included.
	count   int
	starts  map[string]bool // the kinds of shells that are being started to be kept
	closed  bool
	closing context.Context // ends with the pool
	end     context.CancelFunc
	work    sync.WaitGroup
}

// New returns a pool without shells.
func New(o Options) *Pool {
	if o.Bash == "" {
		o.Bash = "bash"
	}
	if o.Max == 0 {
		o.Max = 4
	}
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pool{options: o, busy: make(map[*shell]bool), starts: make(map[string]bool)}
	p.closing, p.end = context.WithCancel(context.Background())
	return p
}

// Close kills all shells, and returns when they are gone. Commands that run end with
// [ErrAgain].
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	for s := range p.busy {
		s.kill()
	}
	p.mu.Unlock()
	p.end()
	for _, s := range idle {
		p.discard(s, "the pool is closed")
	}
	p.work.Wait()
}

// Ready starts a shell in the background, if none like it is ready.
func (p *Pool) Ready(r *Request) {
	kind := r.kind()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.starts[kind] || p.find(kind) >= 0 || !p.room() {
		return
	}
	p.count++
	p.starts[kind] = true
	launch := Launch{Spec: r.Spec, Env: r.Env, bash: p.options.Bash}
	p.work.Go(func() {
		s, err := start(p.closing, p.options.Start, &launch, kind)
		p.mu.Lock()
		delete(p.starts, kind)
		p.mu.Unlock()
		if err != nil {
			p.lost(err)
			return
		}
		p.keep(s)
	})
}

// Run runs a command. After [ErrUnfit] and [ErrAgain] it is to be run in another
// way; other errors are the context's, after which all of it is killed, or those of
// the writers.
func (p *Pool) Run(ctx context.Context, r *Request) (Result, error) {
	if !Fit(r.Command) || strings.ContainsRune(r.Dir, 0) {
		return Result{}, ErrUnfit
	}
	return p.run(ctx, r)
}

// run runs a command that is fit to be.
func (p *Pool) run(ctx context.Context, r *Request) (Result, error) {
	s, err := p.take(ctx, r)
	if err != nil {
		return Result{}, err
	}
	defer p.work.Done()
	result, fresh, err := s.run(ctx, r)
	if err == nil && fresh {
		p.keep(s)
		return result, nil
	}
	p.discard(s, fmt.Sprintf("left over: %t, error: %v", result.Left, err))
	p.Ready(r)
	return result, err
}

// take returns a shell that nobody else has, started now where none is ready, and
// has the pool wait for its user.
func (p *Pool) take(ctx context.Context, r *Request) (*shell, error) {
	kind := r.kind()
	for {
		s, ok := p.takeIdle(kind)
		switch {
		case !ok:
			return nil, ErrUnfit
		case s == nil:
			return p.startNow(ctx, r, kind)
		case s.untouched():
			return s, nil
		}
		p.discard(s, "it is dead, or said something unasked")
		p.work.Done()
	}
}

// takeIdle takes a shell that is ready. Where there is none it makes room for one
// that the caller starts, and says whether there is any.
func (p *Pool) takeIdle(kind string) (*shell, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	if i := p.find(kind); i >= 0 {
		s := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		s.expiry.Stop()
		p.busy[s] = true
		p.work.Add(1)
		return s, true
	}
	if !p.room() {
		return nil, false
	}
	p.count++
	p.work.Add(1)
	return nil, true
}

func (p *Pool) startNow(ctx context.Context, r *Request, kind string) (*shell, error) {
	s, err := start(ctx, p.options.Start, &Launch{Spec: r.Spec, Env: r.Env, bash: p.options.Bash}, kind)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.busy[s] = true; p.closed {
			s.kill() // as Close did to the others
		}
		return s, nil
	}
	p.lost(err)
	p.work.Done()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnfit, err)
}

// find returns the last used of the idle shells of a kind, or -1.
func (p *Pool) find(kind string) int {
	for i, s := range slices.Backward(p.idle) {
		if s.kind == kind {
			return i
		}
	}
	return -1
}

// room makes room for one more shell, if need be by throwing out the one that has
// been idle the longest.
func (p *Pool) room() bool {
	if p.count < p.options.Max {
		return true
	}
	if len(p.idle) == 0 {
		return false
	}
	s := p.idle[0]
	p.idle = p.idle[1:]
	p.drop(s, "another is wanted")
	return true
}

// keep puts a shell by for the next call.
func (p *Pool) keep(s *shell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.drop(s, "the pool is closed")
		return
	}
	delete(p.busy, s)
	p.idle = append(p.idle, s)
	s.expiry = time.AfterFunc(p.options.Idle, func() { p.expire(s) })
}

// expire throws a shell away that is still idle.
func (p *Pool) expire(s *shell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, s); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		p.drop(s, "nobody uses it")
	}
}

func (p *Pool) discard(s *shell, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(s, why)
}

// drop kills a shell that nobody has any more, and waits for its end elsewhere. The
// pool is locked.
func (p *Pool) drop(s *shell, why string) {
	p.options.Logger.Debug("a warm shell is thrown away", "why", why)
	delete(p.busy, s)
	p.count--
	if s.expiry != nil {
		s.expiry.Stop()
	}
	p.work.Go(s.close)
}

// lost counts a shell that did not start.
func (p *Pool) lost(err error) {
	p.options.Logger.Debug("a warm shell did not start", "error", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count--
}

// kind is what shells are told apart by.
func (r *Request) kind() string { return r.Key + "\x00" + strings.Join(r.Env, "\x00") }
