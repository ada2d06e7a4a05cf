package process

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/procfs"
)

const (
	// maxIdle bounds the supervisors without a command. More are for a while after many
	// commands ran at once only.
	maxIdle = 8
	// closeTime is when Close stops waiting for supervisors to end by themselves.
	closeTime = 4 * time.Second
)

// Supervisors start commands. The zero value is of no use: see [New].
type Supervisors struct {
	options Options

	mu      sync.Mutex
	closed  bool
	all     map[*handle]struct{}
	idle    []*handle // the one used last is last
	readied bool      // Ready starts one
	work    sync.WaitGroup
}

// New makes Supervisors. Nothing is started yet.
func New(o Options) *Supervisors {
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Supervisors{options: o, all: make(map[*handle]struct{})}
}

// Ready starts a supervisor in the background where none is idle, so that the next command
// need not wait for it. A failure is told by Start.
func (s *Supervisors) Ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.readied || len(s.idle) > 0 {
		return
	}
	s.readied = true
	s.work.Go(func() {
		h, err := s.spawn()
		s.mu.Lock()
		s.readied = false
		s.mu.Unlock()
		if err == nil {
			s.release(h)
		}
	})
}

// Start starts a command. The context bounds the start alone: see [Process.Stop] for
// how to end it. When the context ends, Start returns at once. With the error comes, then
// and only then, what may start yet, where there is something: it is ended as soon as it
// does, and what the command was made ready with is needed until it is [Process.Gone].
func (s *Supervisors) Start(ctx context.Context, c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Limits.OpenFiles > 0 {
		c.Limits.OpenFiles = max(c.Limits.OpenFiles, 64) // a supervisor has some open too
	}
	if c.In != nil {
		return c.In.become(ctx, &c)
	}
	limits := rlimits{c.Limits.OpenFiles, c.Limits.FileSize}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := s.take(limits)
		used := h != nil
		if !used {
			var err error
			if h, err = s.spawnFor(ctx); err != nil {
				return nil, err
			}
			s.mu.Lock()
			h.limits = &limits
			s.mu.Unlock()
		}
		p, err := h.start(ctx, &c)
		if used && errors.Is(err, errUnsent) && ctx.Err() == nil {
			continue // it had ended while nobody looked
		}
		return p, err
	}
}

// spawn starts a supervisor.
func (s *Supervisors) spawn() (*handle, error) {
	if err := Startable(s.options.Command); err != nil {
		return nil, err
	}
	c, err := spawn(s.options.Command, s.options.Logger)
	if err != nil {
		return nil, abi.Errorf(abi.CodeIO, "starting a supervisor: %w", cmp.Or(procfs.Check(), err))
	}
	h := &handle{child: c, logger: s.options.Logger, idle: s.release, ended: s.forget}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[h] = struct{}{}
	s.work.Go(h.serve)
	if s.closed {
		c.dismiss()
		return nil, abi.Errorf(abi.CodeCancelled, "the supervisors are closed")
	}
	return h, nil
}

// spawnFor starts a supervisor, for others should the context end meanwhile.
func (s *Supervisors) spawnFor(ctx context.Context) (*handle, error) {
	type result struct {
		h   *handle
		err error
	}
	spawned := make(chan result, 1)
	go func() {
		h, err := s.spawn()
		spawned <- result{h, err}
	}()
	select {
	case r := <-spawned:
		return r.h, r.err
	case <-ctx.Done():
		go func() {
			if r := <-spawned; r.err == nil {
				s.release(r.h)
			}
		}()
		return nil, ctx.Err()
	}
}

// check finds what no supervisor could start.
func (c *Command) check() error {
	switch {
	case c.Path == "" && c.Program == nil:
		return abi.Errorf(abi.CodeInternal, "a command without a program")
	case len(c.Files) > maxOwn:
		return abi.Errorf(abi.CodeInternal, "a command with %d descriptors; %d are the most", len(c.Files), maxOwn)
	}
	return nil
}

// take takes an idle supervisor that has these limits, or none yet.
func (s *Supervisors) take(l rlimits) *handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fits := range []func(*handle) bool{
		func(h *handle) bool { return h.limits != nil && *h.limits == l },
		func(h *handle) bool { return h.limits == nil },
	} {
		for i, h := range slices.Backward(s.idle) {
			if fits(h) {
				s.idle = slices.Delete(s.idle, i, i+1)
				h.timer.Stop()
				h.limits = &l
				return h
			}
		}
	}
	return nil
}

// release keeps a supervisor without a command for the next one, for a while.
func (s *Supervisors) release(h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, alive := s.all[h]; !alive {
		return
	}
	if s.closed {
		h.child.dismiss()
		return
	}
	if len(s.idle) >= maxIdle {
		s.idle[0].child.dismiss()
		s.idle = slices.Delete(s.idle, 0, 1)
	}
	s.idle = append(s.idle, h)
	if h.timer == nil {
		h.timer = time.AfterFunc(s.options.Idle, func() { s.expire(h) })
		return
	}
	h.timer.Reset(s.options.Idle)
}

// expire ends a supervisor that is still without a command.
func (s *Supervisors) expire(h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drop(h) {
		h.child.dismiss()
	}
}

// forget strikes off a supervisor that ended.
func (s *Supervisors) forget(h *handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, h)
	s.drop(h)
}

// drop takes a supervisor from the idle ones, and reports whether it was one. The caller
// holds the lock.
func (s *Supervisors) drop(h *handle) bool {
	i := slices.Index(s.idle, h)
	if i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	return i >= 0
}

// Close kills all that runs and ends the supervisors. It takes no longer than 5 seconds.
func (s *Supervisors) Close() error {
	s.mu.Lock()
	s.closed, s.idle = true, nil
	for h := range s.all {
		h.child.dismiss()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(closeTime):
	}
	s.mu.Lock()
	late := len(s.all)
	for h := range s.all {
		h.child.kill()
	}
	s.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(5*time.Second - closeTime):
	}
	if late == 0 {
		return nil
	}
	return abi.Errorf(abi.CodeIO, "%d supervisors did not end by themselves and were killed; something of their commands may be left", late)
}
