package filewatch

import (
	"context"
	"time"
)

// Gather is for how long watchers by [WatchBy] gather changes.
const Gather = 10 * time.Millisecond

// WatchBy is [Watch] with or without the system telling of changes, and looking so
// often.
func WatchBy(ctx context.Context, files func() []string, onChange func(), told bool, poll time.Duration) *Watcher {
	w := newWatching(files, onChange, poll)
	w.gather = Gather
	if !told && w.notify != nil {
		_ = w.notify.Close()
		w.notify = nil
	}
	return w.start(ctx)
}
