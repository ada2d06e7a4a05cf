package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// dropAtOnce is how many segments are dropped before other writers get their turn.
const dropAtOnce = 16

// Expire drops the segments that are over the bounds of the options now; a rotation does the
// same. It returns how many files it removed. Of a log that lacks a segment it drops none
// from before the gap: that something is missing stays to be seen.
func (l *Log) Expire() (removed int, err error) {
	for {
		n, err := l.expire()
		removed += n
		if err != nil {
			return removed, fmt.Errorf("dropping old segments of the decision log: %w", err)
		}
		if n < dropAtOnce {
			return removed, nil
		}
	}
}

func (l *Log) expire() (removed int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, ErrClosed
	}
	if err := filelock.Wait(l.lock, lockWait); err != nil {
		return 0, err
	}
	defer filelock.Unlock(l.lock)
	now := time.Now()
	if err := l.follow(); err != nil {
		return 0, err
	}
	if err := l.write(nil, now); err != nil { // what it has to say of itself comes first
		return 0, err
	}
	return l.drop(now)
}

// drop drops what is over the bounds, the oldest first, at most dropAtOnce. The lock is held.
func (l *Log) drop(now time.Time) (removed int, err error) {
	if l.options.Keep <= 0 && l.options.MaxBytes <= 0 {
		return 0, nil
	}
	over, err := Over(l.dir, l.options, now)
	if err != nil || len(over) == 0 {
		return 0, err
	}
	over = over[:min(len(over), dropAtOnce)]
	if err := l.sayDropped(over, now); err != nil {
		return 0, err
	}
	for _, s := range over {
		if err := os.Remove(s.Path); err != nil {
			return removed, err
		}
		removed++
		l.moment("removed")
	}
	return removed, atomicfile.SyncDir(l.dir)
}

// sayDropped writes into the log that segments are dropped, and forces it to the disk: it
// vouches for what is left.
func (l *Log) sayDropped(over []Segment, now time.Time) error {
	var lines []byte
	next := l.end.position
	for _, s := range over {
		mark := Mark{Segment: s.Number, Through: s.last.seq, ThroughHash: fmt.Sprintf("%x", s.last.hash), Bytes: s.Bytes}
		var err error
		if lines, err = next.appendLine(lines, KindDropped, now, &mark); err != nil {
			return err
		}
	}
	if err := l.put(lines, next); err != nil {
		return err
	}
	l.moment("said")
	err := l.segment.file.Sync()
	l.moment("synced")
	return err
}

// Segment is one file of a log.
type Segment struct {
	Number int
	Path   string
	Bytes  int64
	// Ended is when the segment after it began.
	Ended time.Time
	last  position
}

// Over returns the segments of a log that are over the bounds of the options, the oldest
// first. It only reads.
func Over(dir string, o Options, now time.Time) ([]Segment, error) {
	full, err := fullSegments(dir)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for i := range full {
		total += full[i].Bytes
	}
	for i := range full {
		s := &full[i]
		tooMuch := o.MaxBytes > 0 && total > o.MaxBytes
		if !tooMuch && o.Keep <= 0 {
			return full[:i], nil
		}
		if err := s.end(dir); err != nil {
			return full[:i], err
		}
		if !tooMuch && now.Sub(s.Ended) <= o.Keep {
			return full[:i], nil
		}
		total -= s.Bytes
	}
	return full, nil
}

// fullSegments are all but the newest.
func fullSegments(dir string) ([]Segment, error) {
	numbers, err := segments(dir)
	if err != nil {
		return nil, err
	}
	out := make([]Segment, 0, len(numbers))
	for _, n := range numbers[:max(len(numbers)-1, 0)] {
		path := filepath.Join(dir, segmentName(n))
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		out = append(out, Segment{Number: n, Path: path, Bytes: info.Size()})
	}
	return out, nil
}

// end finds out how a segment ends, from how the next begins.
func (s *Segment) end(dir string) error {
	next := filepath.Join(dir, segmentName(s.Number+1))
	f, info, err := privatedir.OpenOwn(next, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is missing, so %s and older ones are kept; toolquay permissions log --verify tells what is missing, and the older ones can be moved away by hand", next, filepath.Base(s.Path))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	first, err := openingOf(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", next, err)
	}
	s.Ended, s.last = first.time, first.before()
	return nil
}
