package host

import (
	"context"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host/retention"
)

const (
	// forgetAfter is when a host forgets that has run no turn: nobody waits for an answer.
	forgetAfter = time.Second
	// forgetGrace is how long a host that is closed may go on forgetting, so that those that
	// live for one call forget too.
	forgetGrace = 2 * time.Second
	// forgetEvery is how often a host that lives long looks whether it is time again.
	forgetEvery = time.Hour
)

// forgetting is what a host does once a day, off the way of calls: it begins after the first
// turn.
type forgetting struct {
	ctx  context.Context //nolint:containedctx // it is the forgetting's own
	end  context.CancelFunc
	once sync.Once
	// begin is closed when it may begin, closing when the host is closed, and done when it has
	// ended.
	begin, closing, done chan struct{}
}

// forget begins it.
func (h *Host) forget() {
	f := &h.forgetting
	f.begin, f.closing, f.done = make(chan struct{}), make(chan struct{}), make(chan struct{})
	f.ctx, f.end = context.WithCancel(context.Background())
	timer := time.AfterFunc(forgetAfter, f.start)
	go func() {
		defer close(f.done)
		defer timer.Stop()
		select {
		case <-f.begin:
		case <-f.ctx.Done():
			return
		}
		again := time.NewTicker(forgetEvery)
		defer again.Stop()
		for {
			h.options.forget(f.ctx)
			select {
			case <-again.C:
			case <-f.closing:
				return
			}
		}
	}()
}

// start lets it begin.
func (f *forgetting) start() { f.once.Do(func() { close(f.begin) }) }

// close ends it. Where it has begun it gets some time to come to its end.
func (f *forgetting) close(ctx context.Context) {
	close(f.closing)
	select {
	case <-f.begin:
		select {
		case <-f.done:
		case <-ctx.Done():
		case <-time.After(forgetGrace):
		}
	default:
	}
	f.end()
	<-f.done
}

// forget removes what is not needed any more, unless that was done within a day.
func (o *Options) forget(ctx context.Context) {
	if !retention.Daily(ctx, o.Retention(), o.Observe.Logger) {
		return
	}
	log, ok := o.Observe.Decisions.(interface{ Expire() (int, error) })
	if !ok || ctx.Err() != nil {
		return
	}
	if _, err := log.Expire(); err != nil {
		o.Observe.Logger.Warn("old decisions could not be removed", "error", err)
	}
}
