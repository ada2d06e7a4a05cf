package process

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
)

const (
	// maxIdle bounds the keepers without a command. More are for a while after many
	// commands ran at once only.
	maxIdle = 8
	// closeTime is when Close stops waiting for keepers to end by themselves.
	closeTime = 4 * time.Second
)

// Keepers start commands. The zero value is of no use: see [New].
type Keepers struct {
	options Options

	mu      sync.Mutex
	closed  bool
	all     map[*handle]struct{}
	idle    []*handle // the one used last is last
	readied bool      // Ready starts one
	work    sync.WaitGroup
}

// New makes Keepers. Nothing is started yet.
func New(o Options) *Keepers {
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	return &Keepers{options: o, all: make(map[*handle]struct{})}
}

// Ready starts a keeper in the background where none is idle, so that the next command
// need not wait for it. A failure is told by Start.
func (k *Keepers) Ready() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.readied || len(k.idle) > 0 {
		return
	}
	k.readied = true
	k.work.Go(func() {
		h, err := k.spawn()
		k.mu.Lock()
		k.readied = false
		k.mu.Unlock()
		if err == nil {
			k.release(h)
		}
	})
}

// Start starts a command. The context bounds the start alone: see [Process.Stop] for
// how to end it. When the context ends, Start returns at once. With the error comes, then
// and only then, what may start yet, where there is something: it is ended as soon as it
// does, and what the command was made ready with is needed until it is [Process.Gone].
func (k *Keepers) Start(ctx context.Context, c Command) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := k.take(rlimitsOf(c.Limits))
		used := h != nil
		if !used {
			var err error
			if h, err = k.spawnFor(ctx); err != nil {
				return nil, err
			}
		}
		p, err := h.start(ctx, &c)
		if used && errors.Is(err, errUnsent) && ctx.Err() == nil {
			continue // it had ended while nobody looked
		}
		return p, err
	}
}

// spawnFor starts a keeper, for others should the context end meanwhile.
func (k *Keepers) spawnFor(ctx context.Context) (*handle, error) {
	type result struct {
		h   *handle
		err error
	}
	spawned := make(chan result)
	go func() {
		h, err := k.spawn()
		select {
		case spawned <- result{h, err}:
		case <-ctx.Done():
			if err == nil {
				k.release(h)
			}
		}
	}()
	select {
	case r := <-spawned:
		return r.h, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// check finds what no keeper could start.
func (c *Command) check() error {
	switch {
	case c.Path == "":
		return abi.Errorf(abi.CodeInternal, "a command without a program")
	case len(c.Files) > maxFiles:
		return abi.Errorf(abi.CodeInternal, "a command with %d descriptors; %d are the most", len(c.Files), maxFiles)
	}
	return nil
}

// rlimits are the limits that a keeper has for good.
type rlimits struct{ openFiles, fileSize uint64 }

func rlimitsOf(l Limits) rlimits {
	if l.OpenFiles > 0 {
		l.OpenFiles = max(l.OpenFiles, 64) // a keeper has some open too
	}
	return rlimits{l.OpenFiles, l.FileSize}
}

// take takes an idle keeper that has these limits, or none yet.
func (k *Keepers) take(l rlimits) *handle {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, fits := range []func(*handle) bool{
		func(h *handle) bool { return h.bound && h.limits == l },
		func(h *handle) bool { return !h.bound },
	} {
		for i, h := range slices.Backward(k.idle) {
			if fits(h) {
				k.idle = slices.Delete(k.idle, i, i+1)
				h.timer.Stop()
				return h
			}
		}
	}
	return nil
}

// release keeps a keeper without a command for the next one, for a while.
func (k *Keepers) release(h *handle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, alive := k.all[h]; !alive {
		return
	}
	if k.closed {
		h.dismiss()
		return
	}
	if len(k.idle) >= maxIdle {
		k.idle[0].dismiss()
		k.idle = slices.Delete(k.idle, 0, 1)
	}
	k.idle = append(k.idle, h)
	if h.timer == nil {
		h.timer = time.AfterFunc(k.options.Idle, func() { k.expire(h) })
		return
	}
	h.timer.Reset(k.options.Idle)
}

// expire ends a keeper that is still without a command.
func (k *Keepers) expire(h *handle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.idle, h); i >= 0 {
		k.idle = slices.Delete(k.idle, i, i+1)
		h.dismiss()
	}
}

// forget strikes off a keeper that ended.
func (k *Keepers) forget(h *handle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, h)
	if i := slices.Index(k.idle, h); i >= 0 {
		k.idle = slices.Delete(k.idle, i, i+1)
	}
}

// Close kills all that runs and ends the keepers. It takes no longer than 5 seconds.
func (k *Keepers) Close() error {
	k.mu.Lock()
	k.closed, k.idle = true, nil
	for h := range k.all {
		h.dismiss()
	}
	k.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		k.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(closeTime):
	}
	k.mu.Lock()
	late := len(k.all)
	for h := range k.all {
		h.kill()
	}
	k.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(5*time.Second - closeTime):
	}
	if late == 0 {
		return nil
	}
	return abi.Errorf(abi.CodeIO, "%d keepers did not end by themselves and were killed; something of their commands may be left", late)
}
