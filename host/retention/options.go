package retention

import (
	"slices"
	"time"

	"github.com/toolquay/toolquay/permissions/audit"
)

// DefaultKeep is how long sessions and caches nobody uses are kept.
const DefaultKeep = 30 * 24 * time.Hour

// recent is how young a cache or a temporary file is that somebody may be using.
const recent = 24 * time.Hour

// Options say where things lie and how much of them is kept. An empty place is passed over.
type Options struct {
	// State is the directory of the user's state, and Known are the names in it that are the
	// program's own.
	State string
	Known []string
	// Sessions is the directory of session directories, see host.StorageOptions.
	Sessions string
	// Cron is the directory of durable scheduled prompts, see host.StorageOptions.
	Cron string
	// Compiled and Layers are the caches of compiled plugins and of commands.
	Compiled, Layers string
	// Worktrees is the directory of worktrees, see host.StorageOptions, and Git finds the program
	// by which they are looked at and removed; without it none goes.
	Worktrees string
	Git       func() (string, error)
	// Log is the directory of the decision log, whose limits are those of LogOptions and no
	// others.
	Log        string
	LogOptions audit.Options

	// Areas are those to look at, by name; none is all.
	Areas []string
	// Keep is how long what nobody uses is kept. 0 is DefaultKeep for sessions and caches,
	// and for ever within sessions that stay. KeepSessions, if not 0, is for sessions, and for the
	// scheduled prompts of projects that are gone.
	Keep, KeepSessions time.Duration
	// Max bounds the bytes of sessions, and those of caches: while there are more, the ones
	// that were used least recently go. 0 is no bound. If Areas names parts of sessions and
	// not sessions, it bounds each of those.
	Max int64
	// Thorough also measures what stays, and reports what is foreign or open to others.
	Thorough bool
}

// State says what became of an item.
type State string

// The states of an item.
const (
	// Kept is within the limits.
	Kept State = "kept"
	// Over is over a limit, and goes with the next Clean. Leftover goes too.
	Over     State = "over"
	Leftover State = "leftover"
	// InUse is over a limit, and stays because somebody uses it.
	InUse State = "in_use"
	// Staged is over a limit, and stays because files are staged in it that were not applied.
	Staged State = "staged"
	// Unsaved is over a limit, and stays because files or commits would be lost with it.
	Unsaved State = "unsaved"
	// Open is accessible to other users. Clean closes it to them: then it is Closed.
	Open   State = "open"
	Closed State = "closed"
	// Removed was removed by this Clean, or by somebody else meanwhile.
	Removed State = "removed"
	// Foreign is something that nothing of ours made. It is never touched.
	Foreign State = "foreign"
	// Failed could not be looked at or removed.
	Failed State = "failed"
)

// Item is one thing that is kept.
type Item struct {
	Area  string    `json:"area"`
	Name  string    `json:"name"`
	Path  string    `json:"path"`
	State State     `json:"state"`
	Bytes int64     `json:"bytes"`
	Used  time.Time `json:"used,omitzero"`
	// Why is the reason for the state, for people, and of a worktree that is kept, who left it.
	Why string `json:"why,omitempty"`

	// before is the youngest of it that goes.
	before time.Time
}

// Goes reports whether Clean does something about the item.
func (i *Item) Goes() bool { return i.State == Over || i.State == Leftover || i.State == Open }

// Report is what was found and done.
type Report struct{ Items []Item }

// Total sums up the items of one area, or of all for an empty name, whose state is one of those
// given; none is any.
func (r *Report) Total(area string, states ...State) (items int, bytes int64) {
	for i := range r.Items {
		if it := &r.Items[i]; (area == "" || it.Area == area) && it.is(states) {
			items++
			bytes += it.Bytes
		}
	}
	return items, bytes
}

func (i *Item) is(states []State) bool {
	return len(states) == 0 || slices.Contains(states, i.State)
}
