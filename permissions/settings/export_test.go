package settings

import (
	"context"
	"time"
)

// WatchBy is [Watch] with or without the system telling of changes, and looking so
// often.
func WatchBy(ctx context.Context, files []string, onChange func(), told bool, poll time.Duration) *Watcher {
	w := newWatching(files, onChange, poll)
	if !told && w.notify != nil {
		_ = w.notify.Close()
		w.notify = nil
	}
	return w.start(ctx)
}

// FollowSettling is [Follow] with another time that a loss must stand.
var FollowSettling = follow
