package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/cron"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/host/internal/worktree"
)

// Look finds what there is and what is over the limits. It changes nothing. When ctx ends, the
// report is of what was found until then.
func Look(ctx context.Context, o Options) *Report {
	c := newCleaner(ctx, o)
	defer c.close()
	c.look()
	return c.report
}

// Clean removes what is over the limits, and mends what is open to others. When ctx ends, the
// rest stays.
func Clean(ctx context.Context, o Options) *Report {
	c := newCleaner(ctx, o)
	defer c.close()
	c.look()
	for i := range c.report.Items {
		if it := &c.report.Items[i]; it.Goes() && ctx.Err() == nil {
			c.do(it)
		}
	}
	return c.report
}

func newCleaner(ctx context.Context, o Options) *cleaner {
	return &cleaner{ctx: ctx, Options: o, areas: Areas(), now: time.Now(), report: &Report{}}
}

// cleaner is one look, and one clean.
type cleaner struct {
	ctx context.Context //nolint:containedctx // it lives no longer
	Options
	areas  []Area
	now    time.Time
	report *Report
	// sessions is the directory of sessions, once it was listed, and nil where there is none.
	sessions *os.Root
	found    []sessionEntry
	listed   bool
}

func (c *cleaner) close() {
	if c.sessions != nil {
		_ = c.sessions.Close() // it was only a way to its files
	}
}

func (c *cleaner) add(it Item) { c.report.Items = append(c.report.Items, it) }

// failed notes what could not be looked at; what is not there needs no look.
func (c *cleaner) failed(area, path string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.add(Item{Area: area, Path: path, State: Failed, Why: err.Error()})
	}
}

// foreign notes what nothing of ours made.
func (c *cleaner) foreign(area, path, why string) {
	if c.Thorough {
		c.add(Item{Area: area, Path: path, State: Foreign, Why: why})
	}
}

func (c *cleaner) look() {
	for i := range c.areas {
		if c.ctx.Err() == nil && c.asked(c.areas[i].Name) {
			c.areas[i].find(c)
		}
	}
	for i := range c.areas {
		if a := &c.areas[i]; c.Max > 0 && a.bounded && (a.parent == "" || !c.asked(a.parent)) {
			c.bound(a.Name)
		}
	}
	c.leaveParts()
}

// leaveParts leaves out the parts of sessions that go as a whole.
func (c *cleaner) leaveParts() {
	goes := make(map[string]bool)
	for i := range c.report.Items {
		if it := &c.report.Items[i]; it.Area == "sessions" && it.Goes() {
			goes[it.Name] = true
		}
	}
	c.report.Items = slices.DeleteFunc(c.report.Items, func(it Item) bool {
		return c.named(it.Area).parent != "" && goes[it.Name]
	})
}

// judge says that an item is over its time, if it is, and may go.
func (c *cleaner) judge(it *Item, keep time.Duration) {
	it.State = Kept
	if it.before = c.now.Add(-keep); keep > 0 && !it.Used.After(it.before) {
		c.over(it, "not used since "+it.Used.Local().Format(time.DateTime))
	}
}

// over has an item go, unless it is in use or somebody else's.
func (c *cleaner) over(it *Item, why string) {
	it.State, it.Why = Over, why
	if check := c.named(it.Area).check; check != nil {
		it.settle(check(c, it), Over)
	}
}

// settle is the state of an item after something was tried.
func (i *Item) settle(err error, done State) {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		i.State = done
	case errors.Is(err, ErrUnsaved):
		i.State, i.Why = Unsaved, err.Error()
	case errors.Is(err, sessiondir.ErrInUse), errors.Is(err, worktree.ErrInUse), errors.Is(err, cron.ErrInUse):
		i.State, i.Why = InUse, err.Error()
	case errors.Is(err, storage.ErrStaged):
		i.State, i.Why = Staged, err.Error()
	case errors.Is(err, sessiondir.ErrForeign):
		i.State, i.Why = Foreign, err.Error()
	default:
		i.State, i.Why = Failed, err.Error()
	}
}

// bound has the items of an area go that were used least recently, until the others fit.
func (c *cleaner) bound(area string) {
	var stay []*Item
	total, left := int64(0), int64(0)
	for i := range c.report.Items {
		it := &c.report.Items[i]
		if it.Area != area {
			continue
		}
		total += it.Bytes
		if !it.Goes() {
			left += it.Bytes
		}
		if it.State == Kept {
			stay = append(stay, it)
		}
	}
	slices.SortStableFunc(stay, func(a, b *Item) int { return a.Used.Compare(b.Used) })
	for _, it := range stay {
		if left <= c.Max || c.ctx.Err() != nil {
			return
		}
		if area == "caches" && c.now.Sub(it.Used) < recent {
			continue // a host may be using it
		}
		it.before = it.Used
		c.over(it, fmt.Sprintf("%s have %v, over %v", area, abi.Size(total), abi.Size(c.Max)))
		if it.Goes() {
			left -= it.Bytes
		}
	}
}

// do does what is to be done about an item.
func (c *cleaner) do(it *Item) {
	done := Removed
	if it.State == Open {
		done = Closed
	}
	it.settle(c.named(it.Area).remove(c, it), done)
}

// keepFor is how long the items of an area are kept; 0 is for ever.
func (o *Options) keepFor(area string) time.Duration {
	switch area {
	case "sessions", "cron":
		return cmp.Or(o.KeepSessions, o.Keep, DefaultKeep)
	case "caches":
		return max(cmp.Or(o.Keep, DefaultKeep), recent)
	}
	return o.Keep
}
