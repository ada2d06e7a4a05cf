package scheduler_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// parties are schedulers with one table, and notes of what their jobs do.
type parties struct {
	t      *testing.T
	table  scheduler.Table
	mu     sync.Mutex
	events []string
	all    []*scheduler.Scheduler
}

// party is one more of them.
func (p *parties) party(ctx context.Context, o scheduler.Options) *scheduler.Scheduler {
	o.Table = &p.table
	s := scheduler.New(ctx, o)
	p.all = append(p.all, s)
	return s
}

func (p *parties) note(event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, event)
}

// job locks a name for a second; a name with a "!" it writes.
func (p *parties) job(name string, locks ...string) *funcJob {
	j := &funcJob{name: name, traits: scheduler.Traits{Locked: len(locks) > 0}}
	for _, l := range locks {
		read, write := strings.CutSuffix(l, "!")
		j.traits.Locks = append(j.traits.Locks, scheduler.Lock{Name: read, Write: write})
		j.unsafe = j.unsafe || write
	}
	j.run = func(context.Context) {
		p.note("+" + name)
		time.Sleep(time.Second)
		p.note("-" + name)
	}
	return j
}

func (p *parties) wait(want ...string) {
	p.t.Helper()
	for _, s := range p.all {
		s.Wait()
	}
	if !slices.Equal(p.events, want) {
		p.t.Errorf("%q, want %q", p.events, want)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		locks [][]string // of one job of each party, in the order of asking
		want  string
	}{
		"writers of one file":       {[][]string{{"/d/a!"}, {"/d/a!"}}, "+0 -0 +1 -1"},
		"writers of two files":      {[][]string{{"/d/a!"}, {"/d/b!"}}, "+0 +1 -0 -1"},
		"readers":                   {[][]string{{"/d/a"}, {"/d"}}, "+0 +1 -0 -1"},
		"a folder":                  {[][]string{{"/d!"}, {"/d/a"}}, "+0 -0 +1 -1"},
		"the root":                  {[][]string{{"/d/a"}, {"/!"}}, "+0 -0 +1 -1"},
		"names that begin the same": {[][]string{{"/d/a!"}, {"/d/ab!"}}, "+0 +1 -0 -1"},
		"a reader behind a writer":  {[][]string{{"/a"}, {"/a!"}, {"/a"}}, "+0 -0 +1 -1 +2 -2"},
		"two locks, in any order":   {[][]string{{"/a!", "/b!"}, {"/b!", "/a!"}}, "+0 -0 +1 -1"},
		"who waits for something else passes nobody": {[][]string{{"/a!"}, {"/a!", "/b!"}, {"/b!"}, {"/c!"}}, "+0 +3 -0 +1 -3 -1 +2 -2"},
		"not locked": {[][]string{{"/a!"}, {}}, "+0 +1 -0 -1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &parties{t: t}
				for i, locks := range c.locks {
					add(t, p.party(t.Context(), scheduler.Options{}), p.job(string(rune('0'+i)), locks...))
					synctest.Wait()
					time.Sleep(time.Millisecond)
				}
				p.wait(strings.Fields(c.want)...)
			})
		})
	}
}

// Jobs that wait for locks hold no slot, and those that wait for a slot get it in the end.
func TestTableAndSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &parties{t: t}
		pool := scheduler.NewPool(scheduler.PoolOptions{Max: 2})
		first := p.job("first", "/a!")
		add(t, p.party(t.Context(), scheduler.Options{Pool: pool}), first)
		synctest.Wait()
		time.Sleep(time.Millisecond)
		add(t, p.party(t.Context(), scheduler.Options{Pool: pool}), p.job("second", "/a!"))
		synctest.Wait()
		time.Sleep(time.Millisecond)
		add(t, p.party(t.Context(), scheduler.Options{Pool: pool}), p.job("other", "/b!"))
		synctest.Wait()
		time.Sleep(time.Millisecond)
		p.wait("+first", "+other", "-first", "+second", "-other", "-second")
	})
}

// A job that waits for a reader of results gives way to others.
func TestTableAndReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &parties{t: t}
		slow := p.party(t.Context(), scheduler.Options{MaxHeld: 1})
		read := make(chan struct{})
		big := &funcJob{do: func(context.Context, *scheduler.Slot) scheduler.Outcome { return scheduler.Outcome{Held: 2} }}
		big.yield = func() { <-read }
		add(t, slow, big)
		synctest.Wait()
		time.Sleep(time.Millisecond)
		add(t, slow, p.job("held", "/a!"))
		synctest.Wait()
		time.Sleep(time.Millisecond)
		quick := p.party(t.Context(), scheduler.Options{})
		add(t, quick, p.job("quick", "/a!"))
		quick.Wait()
		close(read)
		p.wait("+quick", "-quick", "+held", "-held")
	})
}

// Who does not wait any more holds nobody back.
func TestTableEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &parties{t: t}
		add(t, p.party(t.Context(), scheduler.Options{}), p.job("first", "/a"))
		synctest.Wait()
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		failed := p.job("cancelled", "/a!")
		failed.fail = func(error) { p.note("failed") }
		add(t, p.party(ctx, scheduler.Options{}), failed)
		synctest.Wait()
		time.Sleep(time.Millisecond)
		add(t, p.party(t.Context(), scheduler.Options{}), p.job("behind", "/a"))
		synctest.Wait()
		time.Sleep(time.Millisecond)
		cancel()
		p.wait("+first", "failed", "+behind", "-first", "-behind")
	})
}
