package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// DefaultSegmentBytes is the size that a segment has at most, unless
// [Options.SegmentBytes] says otherwise.
const DefaultSegmentBytes = 16 << 20

// Options are those of a [Log]. The zero value is good.
type Options struct {
	// SegmentBytes is when a new segment begins; 0 is DefaultSegmentBytes. One
	// line alone may be longer.
	SegmentBytes int64
	// SegmentAge is when a new segment begins, counted from the first line of the one
	// before; 0 is never.
	SegmentAge time.Duration
	// Keep and MaxBytes bound the segments before the newest one: those whose last line is
	// older, and the oldest while all together have more bytes, are dropped; see
	// [Log.Expire]. 0 is no bound.
	Keep     time.Duration
	MaxBytes int64
	Sync     Sync
}

// ErrClosed is that of a log that was closed.
var ErrClosed = errors.New("the decision log is closed")

// Log is appended to. It is safe for concurrent use, also by several processes
// that opened the same directory.
type Log struct {
	dir     string
	options Options

	mu      sync.Mutex
	lock    *os.File
	head    head
	segment segment
	end     end
	syncer  syncer
	closed  bool
	// reached, if not nil, is told of the moments of a rotation and a drop, for tests.
	reached func(moment string)
}

func (l *Log) moment(name string) {
	if l.reached != nil {
		l.reached(name)
	}
}

// Open opens the log in a directory for appending, and begins it where there is
// none. The directory is made if need be; it and its files must be the user's
// own and closed to others. Symbolic links and what is not a regular file are
// refused.
func Open(dir string, o Options) (*Log, error) {
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = DefaultSegmentBytes
	}
	l := &Log{dir: dir, options: o}
	l.segment.synced = o.Sync == SyncBatch
	l.syncer = syncer{when: o.Sync, mu: &l.mu, segment: &l.segment}
	if err := l.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the decision log: %w", err), l.closeFiles())
	}
	return l, nil
}

// lockWait is how long a writer waits for others. They hold the lock for
// microseconds, or for one sync; a process that was stopped while it held the
// lock must not stop all decisions for ever.
const lockWait = 5 * time.Second

func (l *Log) open() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := privatedir.Make(l.dir); err != nil {
		return err
	}
	if l.lock, _, err = privatedir.OpenOwn(filepath.Join(l.dir, lockName), os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	if err := filelock.Wait(l.lock, lockWait); err != nil {
		return err
	}
	defer filelock.Unlock(l.lock)
	if err := l.catchUp(); err != nil {
		return err
	}
	return l.write(nil, time.Now()) // what it has to say of itself
}

// Append writes one entry. When it returns nil the line is with the operating
// system, after every line that any process appended before. An error means that
// the entry is not in the log: whoever requires it must not go on. It is counted
// then, and the next entry that is written is preceded by a record of the gap.
//
// It waits for other processes at most a few seconds.
func (l *Log) Append(e Entry) error {
	e = e.bounded()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	err := l.append(&e, now)
	if err != nil {
		if l.end.lost == 0 {
			l.end.since = now
		}
		l.end.lost++
		return fmt.Errorf("the decision log: %w", err)
	}
	return nil
}

func (l *Log) append(e *Entry, now time.Time) error {
	if l.closed {
		return ErrClosed
	}
	if err := l.syncer.err; err != nil {
		l.syncer.err = nil
		return fmt.Errorf("lines written earlier may not be on the disk: %w", err)
	}
	if err := filelock.Wait(l.lock, lockWait); err != nil {
		return err
	}
	defer filelock.Unlock(l.lock)
	if err := l.follow(); err != nil {
		return err
	}
	return l.write(e, now)
}

// follow finds the end of the log where another process moved it. The lock is held.
func (l *Log) follow() error {
	if l.head.current() && l.segment.current(l.end.size) || l.adopt() {
		return nil
	}
	return l.catchUp()
}

// Lost is the number of entries that could not be written and of which no record
// could be written yet.
func (l *Log) Lost() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end.lost
}

// Dir is the log's directory.
func (l *Log) Dir() string { return l.dir }

// write appends what is pending, the record of a gap, and an entry, in one piece.
func (l *Log) write(e *Entry, now time.Time) error {
	next := l.end.position
	lines, err := l.end.lines(&next, e, now)
	if err != nil || len(lines) == 0 {
		return err
	}
	if l.end.unended {
		lines = append([]byte{'\n'}, lines...)
	}
	if l.end.size > 0 && !l.end.unended && len(l.end.pending) == 0 &&
		(l.end.size+int64(len(lines)) > l.options.SegmentBytes || l.segment.older(l.options.SegmentAge, l.end.size, now)) {
		if err := l.rotate(e, now); err != nil {
			return err
		}
		_, _ = l.drop(now) // the next rotation tries again, and Expire says why it failed
		return nil
	}
	return l.put(lines, next)
}

// rotate begins a new segment with an entry.
func (l *Log) rotate(e *Entry, now time.Time) error {
	next, segment := l.end.position, l.end.segment+1
	if segment > maxSegment {
		return fmt.Errorf("%s has %d segments; move it away", l.dir, maxSegment)
	}
	lines, err := next.appendLine(nil, KindSegment, now, Mark{Segment: segment})
	if err != nil {
		return err
	}
	more, err := l.end.lines(&next, e, now)
	if err != nil {
		return err
	}
	if err := l.begin(segment); err != nil {
		return err
	}
	l.moment("begun")
	return l.put(append(lines, more...), next)
}

// put writes lines at the end of the segment, up to the position next, then the
// head. What was written of them when it failed is taken back, as far as the
// system lets us.
func (l *Log) put(lines []byte, next position) error {
	l.head.written = nil // until all is well
	if _, err := l.segment.file.Write(lines); err != nil {
		// Where that fails too, it is torn, and the next writer says so.
		_ = l.segment.file.Truncate(l.end.size)
		return err
	}
	l.moment("written")
	if err := l.syncer.wrote(); err != nil {
		return err
	}
	l.end.position = next
	l.end.size += int64(len(lines))
	l.end.pending, l.end.unended = nil, false
	l.end.lost, l.end.since = 0, time.Time{}
	l.head.put(l.end.place)
	return nil
}

// Close forces everything to the disk and closes the log. Entries that could not
// be written, and of which no record could be written, are an error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.syncer.close()
	if l.end.lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d decisions are not in the log", l.end.lost))
	}
	if err = errors.Join(err, l.closeFiles()); err != nil {
		return fmt.Errorf("closing the decision log: %w", err)
	}
	return nil
}

func (l *Log) closeFiles() error {
	var errs []error
	for _, f := range []*os.File{l.segment.file, l.head.file, l.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
