package cron

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// taken is a job that one process tells, while others leave it alone.
type taken struct {
	*Store
	job   *job
	again bool
	lock  *os.File
}

// take takes a job that is due, or that a process was killed over: what is due is written down
// before it is told. It is nil where it is not due, or somebody else tells it.
func (s *Store) take(ctx context.Context, id string, now time.Time, zone *time.Location) (*taken, error) {
	f, _, err := privatedir.OpenOwn(s.path(id, takenSuffix), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, ioError(err)
	}
	t := &taken{Store: s, lock: f}
	if err = filelock.Try(f); err == nil {
		err = s.change(ctx, func() error { return t.fire(id, now, zone) })
	}
	switch {
	case err == nil && t.job != nil:
		return t, nil
	case errors.Is(err, filelock.ErrLocked):
		return nil, ioError(f.Close())
	}
	t.leave()
	return nil, ioError(err)
}

// fire writes down that the job came due.
func (t *taken) fire(id string, now time.Time, zone *time.Location) error {
	j, err := t.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(t.path(id, takenSuffix)) // it was deleted just now
		return nil
	}
	if err != nil {
		return err
	}
	if j.Fired != nil {
		t.job, t.again = j, true
		return nil
	}
	moved := j.settle(now)
	fired := j.fire(now, zone)
	if moved || fired {
		t.at("before it is written that it came due")
		if err := t.write(j); err != nil {
			return err
		}
		t.at("after it is written that it came due")
	}
	if fired {
		t.job = j
	}
	return nil
}

// told writes down that the prompt was told.
func (t *taken) told(ctx context.Context) error {
	t.at("before it is written that it was told")
	defer t.at("after it is written that it was told")
	return t.change(ctx, func() error {
		j, err := t.read(t.job.ID)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		if t.job.Fired.Last {
			_ = os.Remove(t.path(j.ID, takenSuffix)) // one that stays does no harm
			return t.remove(j.ID)
		}
		j.Fired = nil
		return t.write(j)
	})
}

// leave gives the job back as it is. Closing the file alone would leave it locked as long as a
// child is between fork and exec.
func (t *taken) leave() {
	filelock.Unlock(t.lock)
	_ = t.lock.Close()
}
