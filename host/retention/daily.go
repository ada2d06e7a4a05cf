package retention

import (
	"cmp"
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

// stampName is the file in the directory of sessions, and in the cache of compiled plugins, whose
// time is when that was last cleaned.
const stampName = ".cleaned"

// interval is how often a host cleans.
const interval = 24 * time.Hour

// doubt is how long a host waits where nothing cleaned for longer than sessions are kept, so that
// all of them seem to be over their time: the clock may have jumped, and may be put right.
const doubt = time.Hour

// Daily cleans unless that was done within a day, or another process is at it, and logs what
// it removed and what it could not. Where that was not done for longer than sessions are kept it
// waits for an hour. It reports whether it cleaned.
//
// Caches have a day of their own, as hosts with other sessions share them.
func Daily(ctx context.Context, o Options, log *slog.Logger) bool {
	caches := o.only(func(area string) bool { return area == "caches" })
	rest := o.only(func(area string) bool { return area != "caches" })
	cleaned := rest.daily(ctx, o.Sessions, "sessions", log)
	if place := cmp.Or(o.Compiled, o.Layers); isDir(place) == nil {
		cleaned = caches.daily(ctx, place, "caches", log) || cleaned
	}
	return cleaned
}

// only are the options for some of their areas.
func (o Options) only(is func(area string) bool) Options {
	var areas []string
	for _, a := range Areas() {
		if o.asked(a.Name) && is(a.Name) {
			areas = append(areas, a.Name)
		}
	}
	o.Areas = areas
	return o
}

// daily cleans unless the stamp in a place says that it was done. Age names the area by whose
// age it is told that the clock may be wrong.
func (o Options) daily(ctx context.Context, place, age string, log *slog.Logger) bool {
	if len(o.Areas) == 0 {
		return false // none of them was asked for
	}
	stamp, due := dueStamp(place, o.keepFor(age), log)
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
		setAge(stamp.Name(), 0)
	}
	filelock.Unlock(stamp)
	_ = stamp.Close() // nothing was written
	return true
}

// dueStamp reports whether it is time to clean, and returns the stamp in a place locked. It is nil
// where there is no place for one: without sessions there is little to do.
func dueStamp(place string, keep time.Duration, log *slog.Logger) (*os.File, bool) {
	if isDir(place) != nil {
		return nil, true
	}
	path := filepath.Join(place, stampName)
	age, err := ageOf(path)
	if err == nil && age < interval {
		return nil, false
	}
	isNew := errors.Is(err, fs.ErrNotExist)
	stamp, _, err := privatedir.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		log.Debug("cleaning without a note of when that was done", "error", err)
		return nil, true
	}
	if filelock.Try(stamp) != nil {
		_ = stamp.Close() // nothing was written
		return nil, false
	}
	if isNew { // it counts once it is done
		setAge(path, interval)
		return stamp, true
	}
	age, err = ageOf(path)
	due := err != nil || age >= interval
	if due && age > keep+interval {
		setAge(path, interval-doubt)
		due = false
	}
	if !due {
		filelock.Unlock(stamp)
		_ = stamp.Close() // nothing was written
		return nil, false
	}
	return stamp, true
}

// ageOf is how old a stamp is. One of the future counts as due: the clock was wrong.
func ageOf(path string) (time.Duration, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if age := time.Since(info.ModTime()); age >= 0 {
		return age, nil
	}
	return interval, nil
}

func setAge(path string, age time.Duration) {
	then := time.Now().Add(-age)
	_ = os.Chtimes(path, then, then) // else the next start cleans sooner, or later
}
