package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// Sync says when lines are forced to the disk.
type Sync uint8

const (
	// SyncBatch forces them at most a second later, and beside whatever is done
	// meanwhile: the first at once, those that follow it together.
	SyncBatch Sync = iota
	// SyncEach forces each before Append returns. It costs what the disk costs.
	SyncEach
	// SyncNever leaves it to the operating system.
	SyncNever
)

// batchDelay is how long lines may wait with SyncBatch, and how far apart two times
// are at which they are forced.
const batchDelay = time.Second

// DefaultSegmentBytes is the size that a segment has at most, unless
// [Options.SegmentBytes] says otherwise.
const DefaultSegmentBytes = 16 << 20

// Options are those of a [Log]. The zero value is good.
type Options struct {
	// SegmentBytes is when a new segment begins; 0 is DefaultSegmentBytes. One
	// line alone may be longer.
	SegmentBytes int64
	Sync         Sync
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
	head    *os.File
	segment *os.File
	// headInfo and opened identify the files of the head and the segment.
	headInfo, opened fs.FileInfo
	// at is the end of the log as this process knows it, and written the head
	// file that says so; nil where it must be found out anew.
	at      place
	written []byte
	// pending are marks to be written before the next entry.
	pending []pendingMark
	// unended says that the segment ends without a newline.
	unended bool

	lost  uint64
	since time.Time

	timer    *time.Timer // set while lines wait to be synced
	unsynced bool        // lines came after the last sync began, or it failed
	began    time.Time   // when it did
	syncing  sync.WaitGroup
	syncErr  error
	closed   bool
}

// place is the end of a log.
type place struct {
	position
	segment int
	size    int64 // of the segment, in bytes
}

type pendingMark struct {
	kind Kind
	Mark
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
	if l.lock, _, err = privatedir.OpenOwn(l.path(lockName), os.O_RDWR|os.O_CREATE); err != nil {
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
		if l.lost == 0 {
			l.since = now
		}
		l.lost++
		return fmt.Errorf("the decision log: %w", err)
	}
	return nil
}

func (l *Log) append(e *Entry, now time.Time) error {
	if l.closed {
		return ErrClosed
	}
	if err := l.syncErr; err != nil {
		l.syncErr = nil
		return fmt.Errorf("lines written earlier may not be on the disk: %w", err)
	}
	if err := filelock.Wait(l.lock, lockWait); err != nil {
		return err
	}
	defer filelock.Unlock(l.lock)
	if !l.current() && !l.adopt() {
		if err := l.catchUp(); err != nil {
			return err
		}
	}
	return l.write(e, now)
}

// Lost is the number of entries that could not be written and of which no record
// could be written yet.
func (l *Log) Lost() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Dir is the log's directory.
func (l *Log) Dir() string { return l.dir }

// write appends what is pending, the record of a gap, and an entry, in one piece.
func (l *Log) write(e *Entry, now time.Time) error {
	next := l.at.position
	lines, err := l.lines(&next, e, now)
	if err != nil || len(lines) == 0 {
		return err
	}
	if l.unended {
		lines = append([]byte{'\n'}, lines...)
	}
	if l.at.size > 0 && l.at.size+int64(len(lines)) > l.options.SegmentBytes && !l.unended && len(l.pending) == 0 {
		return l.rotate(e, now)
	}
	return l.put(lines, next)
}

// rotate begins a new segment with an entry.
func (l *Log) rotate(e *Entry, now time.Time) error {
	next, segment := l.at.position, l.at.segment+1
	if segment > maxSegment {
		return fmt.Errorf("%s has %d segments; move it away", l.dir, maxSegment)
	}
	lines, err := next.appendLine(nil, KindSegment, now, Mark{Segment: segment})
	if err != nil {
		return err
	}
	more, err := l.lines(&next, e, now)
	if err != nil {
		return err
	}
	if err := l.begin(segment); err != nil {
		return err
	}
	return l.put(append(lines, more...), next)
}

// lines are what is to be written now; p moves on.
func (l *Log) lines(p *position, e *Entry, now time.Time) (lines []byte, err error) {
	for i := range l.pending {
		if lines, err = p.appendLine(lines, l.pending[i].kind, now, &l.pending[i].Mark); err != nil {
			return nil, err
		}
	}
	if e == nil {
		return lines, nil
	}
	if l.lost > 0 {
		if lines, err = p.appendLine(lines, KindGap, now, Mark{Lost: l.lost, Since: l.since.UTC()}); err != nil {
			return nil, err
		}
	}
	return p.appendLine(lines, KindDecision, now, e)
}

// put writes lines at the end of the segment, up to the position next, then the
// head. What was written of them when it failed is taken back, as far as the
// system lets us.
func (l *Log) put(lines []byte, next position) error {
	if _, err := l.segment.Write(lines); err != nil {
		l.written = nil
		// Where that fails too, it is torn, and the next writer says so.
		_ = l.segment.Truncate(l.at.size)
		return err
	}
	if err := l.sync(); err != nil {
		l.written = nil
		return err
	}
	l.at.position = next
	l.at.size += int64(len(lines))
	l.pending, l.unended = nil, false
	l.lost, l.since = 0, time.Time{}
	l.putHead()
	return nil
}

// sync does what the options say about forcing lines to the disk.
func (l *Log) sync() error {
	switch l.options.Sync {
	case SyncEach:
		return l.segment.Sync()
	case SyncBatch:
		l.unsynced = true
		if l.timer == nil {
			l.timer = time.AfterFunc(batchDelay-time.Since(l.began), l.syncBatch)
		}
	case SyncNever:
	}
	return nil
}

func (l *Log) syncBatch() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.timer, l.unsynced, l.began = nil, false, time.Now()
	l.syncing.Add(1)
	defer l.syncing.Done()
	// The lock is not held while the disk works, so the segment may be closed
	// meanwhile, by a rotation: that syncs it.
	segment := l.segment
	l.mu.Unlock()
	if err := segment.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
		l.mu.Lock()
		l.syncErr, l.unsynced = err, true
		l.mu.Unlock()
	}
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
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock() // for a sync that is under way
	l.syncing.Wait()
	l.mu.Lock()
	err := l.syncErr
	if l.unsynced && l.segment != nil {
		err = errors.Join(err, l.segment.Sync())
	}
	if l.lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d decisions are not in the log", l.lost))
	}
	if err = errors.Join(err, l.closeFiles()); err != nil {
		return fmt.Errorf("closing the decision log: %w", err)
	}
	return nil
}

func (l *Log) closeFiles() error {
	var errs []error
	for _, f := range []*os.File{l.segment, l.head, l.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
