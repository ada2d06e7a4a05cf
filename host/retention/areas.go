package retention

import (
	"slices"
)

// Area is a kind of thing that is kept.
type Area struct {
	Name string
	// About says what it is, for people.
	About string
	// parent is the area whose items hold those of this one.
	parent string
	// bounded says that Options.Max bounds it; not beside its parent, which goes as a whole.
	bounded bool
	// find adds the items to the cleaner. check reports whether an item may go, and remove
	// removes it; what is gone already is no error.
	find   func(*cleaner)
	check  func(*cleaner, *Item) error
	remove func(*cleaner, *Item) error
}

// Areas are all there are, in the order in which they are cleaned: what makes room comes before
// what needs some. What is to be kept besides gets a row.
func Areas() []Area {
	return []Area{
		{"state", "leftovers, and what is open to other users", "", false, findState, nil, mendState},
		{"sessions", "directories of sessions nobody uses", "", true, findSessions, checkWhole, removeSession},
		{"results", "results and output kept in sessions that stay", "sessions", true, findResults, checkSession, removeResults},
		{"history", "former contents of files in sessions that stay", "sessions", true, findHistories, checkSession, removeHistory},
		{"worktrees", "worktrees of git that sessions left, in which nothing would be lost", "", false, findWorktrees, checkWorktree, removeWorktree},
		{"caches", "compiled plugins, and what commands have in the place of your caches", "", true, findCaches, nil, removeCache},
		{"cron", "durable scheduled prompts of projects that are gone", "", false, findSchedules, nil, removeSchedules},
		{"log", "old files of the decision log, by the limits in [log]", "", false, findLog, nil, removeLog},
	}
}

// named is the area of that name.
func (c *cleaner) named(name string) *Area {
	i := slices.IndexFunc(c.areas, func(a Area) bool { return a.Name == name })
	return &c.areas[i]
}

// asked reports whether an area is looked at.
func (o *Options) asked(name string) bool { return len(o.Areas) == 0 || slices.Contains(o.Areas, name) }
