package settings

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/filewatch"
	"github.com/toolquay/toolquay/permissions"
)

// settleTime is how long a change that takes something away must stand before it
// counts. A file that is being written anew is empty or missing for a moment, and
// an empty file denies nothing.
const settleTime = time.Second

// retryEvery is how often a rule that has expired is tried to be taken out, where a
// file is broken.
const retryEvery = 5 * time.Second

// Live are settings that follow their files.
type Live struct {
	options Options
	take    func(*Loaded) error
	failed  func(error)
	settle  time.Duration
	current atomic.Pointer[Loaded]
	// told is the last error told, so that it is told once.
	told string

	watcher *filewatch.Watcher
	changed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}
}

// Follow keeps settings up to date that were loaded with the same options, until
// ctx is done or the result is closed.
//
// After each change, and when a rule expires, take is called with what is loaded
// now. Where that fails, or take refuses it, the settings stay what they were, and
// failed is told why, once. A change that only adds counts at once, one that takes
// something away when it has stood for a second: a file that is being written
// anew must not lose its deny rules for that time. Both are called from one
// goroutine.
func Follow(ctx context.Context, o Options, first *Loaded, take func(*Loaded) error, failed func(error)) *Live {
	return follow(ctx, o, first, take, failed, settleTime)
}

func follow(
	ctx context.Context, o Options, first *Loaded, take func(*Loaded) error, failed func(error), settle time.Duration,
) *Live {
	ctx, cancel := context.WithCancel(ctx)
	l := &Live{
		options: o, take: take, failed: failed, settle: settle,
		changed: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}),
	}
	l.current.Store(first)
	l.watcher = filewatch.WatchLater(ctx, filewatch.Fixed(first.Watched...), l.wake)
	l.wake() // what changed before watching began
	go l.run(ctx)
	return l
}

// Current returns the settings as they were last taken.
func (l *Live) Current() *Loaded { return l.current.Load() }

// Close ends following, and waits until neither function runs any more. It may be
// called more than once, but not from either function.
func (l *Live) Close() {
	l.cancel()
	l.watcher.Close()
	<-l.done
}

func (l *Live) wake() {
	select {
	case l.changed <- struct{}{}:
	default: // it is awake
	}
}

func (l *Live) run(ctx context.Context) {
	defer close(l.done)
	for {
		var expiry <-chan time.Time
		if at := l.Current().Expires; !at.IsZero() {
			wait := time.Until(at)
			if wait < 0 { // it could not be taken out, as a file is broken
				wait = retryEvery
			}
			expiry = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		case <-expiry:
		}
		l.reload(ctx)
	}
}

// reload takes the settings as they now are, once they have settled.
func (l *Live) reload(ctx context.Context) {
	old := l.Current()
	next, err := Load(l.options)
	for err == nil && loses(old, next) {
		settled := true
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
			settled = false
		case <-time.After(l.settle):
		}
		last := next
		if next, err = Load(l.options); settled && reflect.DeepEqual(next, last) {
			break
		}
	}
	if ctx.Err() != nil || err == nil && reflect.DeepEqual(old, next) {
		l.told = ""
		return
	}
	if err == nil {
		err = l.take(next)
	}
	if err == nil {
		l.current.Store(next)
		l.told = ""
		return
	}
	if text := err.Error(); text != l.told {
		l.told = text
		l.failed(err)
	}
}

// loses reports whether anything that could hold a call back is there in the old
// settings and not in the new.
func loses(old, next *Loaded) bool {
	now := next.holds()
	for what := range old.holds() {
		if !now[what] {
			return true
		}
	}
	return false
}

// holds names all that could hold a call back.
func (l *Loaded) holds() map[string]bool {
	out := make(map[string]bool)
	for _, f := range l.Files {
		if f.There {
			out["file "+f.Path] = true
		}
	}
	for i := range l.Rules {
		set := &l.Rules[i]
		hold := func(v permissions.Verdict, rules []permissions.RuleText) {
			for _, r := range rules {
				out[fmt.Sprint(v, set.Source, set.File, r.Text)] = true
			}
		}
		hold(permissions.Deny, set.Deny)
		hold(permissions.Ask, set.Ask)
		out[fmt.Sprint("mode", set.Source, set.File, set.Mode)] = true
	}
	for _, hooks := range l.Hooks {
		for i := range hooks {
			out[hooks[i].String()+hooks[i].Source.File] = true
		}
	}
	for _, m := range l.Policy.ForbidModes {
		out["forbid "+string(m.Value)] = true
	}
	p := l.Policy
	out[fmt.Sprint("policy", p.OnlyRules.Value, p.OnlyHooks.Value, p.OnlyServers.Value, p.RequireLog.Value, l.Log.Required.Value)] = true
	out[fmt.Sprint("isolation", l.Isolation.Value == abi.IsolationProcess)] = true
	return out
}
