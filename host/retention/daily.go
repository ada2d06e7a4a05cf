package retention

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// stampName is the file in the directory of sessions whose time is when it was last cleaned.
const stampName = ".cleaned"

// interval is how often a host cleans.
const interval = 24 * time.Hour

// Daily cleans unless that was done within a day, or another process is at it, and logs what
// it removed and what it could not. It reports whether it cleaned.
func Daily(ctx context.Context, o Options, log *slog.Logger) bool {
	stamp, due := dueStamp(o.Sessions, log)
	if !due {
		return false
	}
	r := Clean(ctx, o)
	for i := range r.Items {
		if it := &r.Items[i]; it.State == Failed {
			log.Warn("what is not needed any more could not be removed", "area", it.Area, "path", it.Path, "error", it.Why)
		}
	}
	if n, _ := r.Total("", Removed); n > 0 {
		log.Info("what was not needed any more was removed; toolquay clean shows what is kept", "count", n)
	}
	if stamp == nil {
		return true
	}
	if ctx.Err() == nil {
		now := time.Now()
		_ = os.Chtimes(stamp.Name(), now, now) // else the next start does it again
	}
	filelock.Unlock(stamp)
	_ = stamp.Close() // nothing was written
	return true
}

// dueStamp reports whether it is time to clean, and returns the stamp locked. It is nil where
// there is no place for one: without sessions there is little to do.
func dueStamp(sessions string, log *slog.Logger) (*os.File, bool) {
	if info, err := os.Lstat(sessions); err != nil || !info.IsDir() {
		return nil, true
	}
	path := filepath.Join(sessions, stampName)
	if young(path) {
		return nil, false
	}
	_, err := os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	stamp, _, err := privatedir.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		log.Debug("cleaning without a note of when that was done", "error", err)
		return nil, true
	}
	if filelock.Try(stamp) != nil || !isNew && young(path) {
		_ = stamp.Close() // nothing was written
		return nil, false
	}
	if isNew { // it counts once it is done
		_ = os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0))
	}
	return stamp, true
}

// young reports whether a stamp is less than a day old. One of the future counts as old.
func young(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	age := time.Since(info.ModTime())
	return age >= 0 && age < interval
}
