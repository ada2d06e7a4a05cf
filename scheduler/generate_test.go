package scheduler_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// generator makes random turns.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 7))} }

// oneIn is true once in n times.
func (g generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// some is a random time, at least 1 ns, so that no two are the same.
func (g generator) some(most time.Duration) time.Duration {
	return time.Duration(g.Int64N(int64(most))) + 1
}

// turn makes a turn.
func (g generator) turn() (rules, []plan, []stop) {
	r := rules{slots: 1 + g.IntN(6), admitting: 1 + g.IntN(12), cascade: scheduler.Cascade(g.IntN(3)), plain: g.oneIn(5)}
	if g.oneIn(3) {
		r.perGroup = 1 + g.IntN(2)
	}
	if g.oneIn(3) {
		r.maxHeld = 1 + g.Int64N(20)
	}
	plans := make([]plan, g.IntN(30))
	streamed := g.oneIn(2)
	var at time.Duration
	for i := range plans {
		plans[i] = g.plan()
		if streamed {
			at += g.some(600 * time.Millisecond)
			plans[i].addedAt = at
		}
	}
	var stops []stop
	for _, kind := range []string{interrupted, discarded, cancelled} {
		if g.oneIn(5) {
			stops = append(stops, stop{kind, g.some(12 * time.Second)})
		}
	}
	return r, plans, stops
}

// plan makes a job.
func (g generator) plan() plan {
	p := plan{
		traits: g.traits(),
		refuse: g.oneIn(10),
		fails:  g.oneIn(6),
		admit:  g.some(time.Second),
		run:    g.some(3 * time.Second),
		yield:  g.some(500 * time.Millisecond),
		holds:  g.Int64N(10),
	}
	if g.oneIn(12) {
		p.panics = []string{"Traits", "Admit", "Run", "Settle", "Yield", "Fail"}[g.IntN(6)]
	}
	if g.oneIn(8) {
		grown := g.traits()
		p.grows = &grown
	}
	if g.oneIn(8) {
		p.behind = g.some(7 * time.Second)
	}
	if g.oneIn(8) {
		p.admit = g.some(10 * time.Second) // a person is asked
	}
	return p
}

func (g generator) traits() scheduler.Traits {
	t := scheduler.Traits{
		Safe:    g.oneIn(2),
		Locked:  g.IntN(4) > 0,
		Cascade: g.oneIn(2),
		Block:   g.oneIn(3),
		Group:   []string{"", "a", "b"}[g.IntN(3)],
	}
	for range g.IntN(4) {
		t.Locks = append(t.Locks, scheduler.Lock{Name: g.name(), Write: g.oneIn(2)})
	}
	return t
}

// name is one of 84 that lie up to three deep.
func (g generator) name() string {
	parts := make([]string, 1+g.IntN(3))
	for i := range parts {
		parts[i] = string(rune('a' + g.IntN(4)))
	}
	return strings.Join(parts, "/")
}

// coverage counts what happened in random turns, so that a test of them cannot come
// to test nothing.
type coverage struct {
	cascades, interrupts, discards, cancels int
	abandoned, dropped, demoted, overlaps   int
}

func (c *coverage) add(tn *turn) {
	c.overlaps += tn.overlap
	for i := range tn.traces {
		tr := &tn.traces[i]
		c.abandoned += len(tr.abandoned)
		if tr.dropped {
			c.dropped++
		}
		if len(tr.states) > 1 && tr.states[1].state == scheduler.Admitting && len(tr.states) > 2 && tr.states[2].state == scheduler.Queued {
			c.demoted++
		}
		switch {
		case strings.HasPrefix(tr.result, "cascade"):
			c.cascades++
		case tr.result == interrupted:
			c.interrupts++
		case tr.result == discarded:
			c.discards++
		case tr.result == cancelled:
			c.cancels++
		}
	}
}

// check fails where something hardly happened.
func (c *coverage) check(t *testing.T) {
	t.Helper()
	t.Logf("%+v", *c)
	for what, n := range map[string]int{
		"cascades": c.cascades, "interrupts": c.interrupts, "discards": c.discards, "cancels": c.cancels,
		"abandoned": c.abandoned, "dropped": c.dropped, "demoted": c.demoted, "overlaps": c.overlaps,
	} {
		if n < turns/40 {
			t.Errorf("%s: %d in all turns; they test too little", what, n)
		}
	}
}
