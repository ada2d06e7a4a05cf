package cron

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/capability"
)

// lookEvery is how often the clock is looked at while a job waits: it may be set, and a machine
// that sleeps counts no time.
const lookEvery = time.Minute

// Taker takes what comes due in a session.
type Taker struct {
	// Idle waits until no turn of the session runs, and reports false where ctx ends first.
	Idle func(ctx context.Context) bool
	// Take takes a prompt. It returns false where it did not, and then nothing more is told.
	Take func(capability.DuePrompt) bool
}

// Run gives the prompts of the session's jobs as they come due, until ctx ends: several at once by
// their times, then their ids. One at a time does so.
func (j *Jobs) Run(ctx context.Context, t Taker) {
	select {
	case j.running <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-j.running }()
	for ctx.Err() == nil {
		due, wait := j.look()
		switch told, more := j.tellAll(ctx, due, &t); {
		case !more:
			return
		case told: // others may have come due meanwhile
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-j.changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Due gives the prompts of the session's jobs that are due by now, in the same order, and waits for
// nobody: it gives none while somebody else does. What is kept is looked at as often as by [Jobs.Run].
func (j *Jobs) Due(ctx context.Context, take func(capability.DuePrompt) bool) {
	select {
	case j.running <- struct{}{}:
	default:
		return
	}
	defer func() { <-j.running }()
	now := j.cron.now()
	select {
	case <-j.changed:
	default:
		if !now.Before(j.looked) && now.Before(j.looked.Add(j.wait)) {
			return
		}
	}
	due, wait := j.look()
	told, more := j.tellAll(ctx, due, &Taker{Idle: func(ctx context.Context) bool { return ctx.Err() == nil }, Take: take})
	if told || !more { // others may be due
		wait = 0
	}
	j.looked, j.wait = now, wait
}

var errUnusable = errors.New("it is left out")

// mine are the jobs that come due in this session.
func (j *Jobs) mine() []*job {
	list := j.own()
	if j.durable {
		durable, notes, err := j.cron.options.Store.all(false)
		for _, note := range notes {
			j.warn(note, "", errUnusable)
		}
		j.warn("the durable jobs of the project cannot be read", "", err)
		list = append(list, durable...)
	}
	return list
}

// forEver is how long is waited where there is no job, nor anybody else who makes one.
const forEver = 1<<63 - 1

// look finds the jobs that are due or are to begin anew, and how long no other comes due: at most
// until the clock is to be looked at.
func (j *Jobs) look() (due []*job, wait time.Duration) {
	list, now, zone := j.mine(), j.cron.now(), j.cron.options.Zone
	wait = lookEvery
	if len(list) == 0 && !j.durable { // other processes make durable ones
		wait = forEver
	}
	for _, k := range list {
		switch left := k.at(zone).Sub(now); {
		case k.Fired != nil || left <= 0:
			due = append(due, k)
		case now.Before(k.Through.Add(-setBack)):
			due = append(due, k)
			if next, ok := k.schedule.Next(now, zone); ok {
				wait = min(wait, next.Sub(now))
			}
		default:
			wait = min(wait, left)
		}
	}
	slices.SortFunc(due, byTime(zone))
	return due, wait
}

// tellAll tells what is due, and reports whether that was anything, and whether more is to be told.
func (j *Jobs) tellAll(ctx context.Context, list []*job, t *Taker) (told, more bool) {
	for _, k := range list {
		if !t.Idle(ctx) {
			return told, false
		}
		did, more := j.tell(ctx, k, t)
		if told = told || did; !more {
			return told, false
		}
	}
	return told, true
}

// tell tells one job's prompt, if it is due still.
func (j *Jobs) tell(ctx context.Context, k *job, t *Taker) (told, more bool) {
	if k.durable {
		return j.tellDurable(ctx, k.ID, t)
	}
	prompt, due := j.take(k.ID)
	if !due {
		return false, true
	}
	if !t.Take(prompt) {
		return false, false
	}
	j.done(k.ID)
	return true, true
}

// take takes a job of the session's own that is due.
func (j *Jobs) take(id string) (p capability.DuePrompt, due bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := slices.IndexFunc(j.list, func(k *job) bool { return k.ID == id })
	if at < 0 {
		return p, false
	}
	k, again, now := j.list[at], j.list[at].Fired != nil, j.cron.now()
	if !again {
		k.settle(now)
		if !k.fire(now, j.cron.options.Zone) {
			return p, false
		}
	}
	p = k.prompt(now)
	p.Again = again
	return p, true
}

// done notes that the prompt of a job of the session's own was told.
func (j *Jobs) done(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = slices.DeleteFunc(j.list, func(k *job) bool { return k.ID == id && k.Fired != nil && k.Fired.Last })
	for _, k := range j.list {
		if k.ID == id {
			k.Fired = nil
		}
	}
}

// tellDurable tells a durable job's prompt, unless another process does. Where that cannot be
// written down before, it is not told.
func (j *Jobs) tellDurable(ctx context.Context, id string, t *Taker) (told, more bool) {
	now := j.cron.now()
	taken, err := j.cron.options.Store.take(ctx, id, now, j.cron.options.Zone)
	j.warn("a scheduled prompt is not told, as it cannot be written down that it came due", id, err)
	if taken == nil {
		return false, true
	}
	defer taken.leave() // also where taking it panics
	p := taken.job.prompt(now)
	p.Again = taken.again
	if last, was := j.told[id]; !was || !last.Equal(p.Due) {
		if !t.Take(p) {
			return false, false
		}
		told, j.told[id] = true, p.Due
	}
	err = taken.told(context.WithoutCancel(ctx))
	j.warn("it cannot be written down that a scheduled prompt was told: the next process tells it again", id, err)
	if err == nil {
		delete(j.told, id)
	}
	return told, true
}

// warn tells the operator of an error, once until it is over.
func (j *Jobs) warn(what, id string, err error) {
	if about := what + id; j.warned[about] != (err != nil) {
		j.warned[about] = err != nil
		if err != nil {
			j.cron.options.Logger.Warn(what, "job", id, "error", err) //nolint:sloglint // the callers' are constant
		}
	}
}
