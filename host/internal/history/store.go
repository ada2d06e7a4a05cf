package history

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/ondisk"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// Dir is the name of a history's directory in the directory of its session.
const Dir = "history"

// The usual bounds.
const (
	// DefaultMaxBytes bounds the contents of one session, compressed: some hundred
	// thousand source files.
	DefaultMaxBytes = 512 << 20
	// DefaultMaxAge is as long as sessions are kept.
	DefaultMaxAge = 30 * 24 * time.Hour
)

var (
	// ErrNotKept is that a content is not, or no longer, kept.
	ErrNotKept = errors.New("the content is not kept")
	// ErrClosed is that of a history that was closed.
	ErrClosed = errors.New("the history is closed")
)

// Options configure a history. The zero value reads one that is there.
type Options struct {
	// MaxBytes bounds the contents in bytes, compressed, and MaxAge how long ago
	// they may have been written over; 0 is the default.
	MaxBytes int64
	MaxAge   time.Duration
	// Make makes the history's directory, before the first thing is kept in it; nil
	// is for one that is there. It is called until it succeeds once.
	Make func() error
	// Logger is told what goes wrong beside the writes themselves; nil discards it.
	Logger *slog.Logger
}

// Store is the history of one session. It is safe for concurrent use, and so is its
// directory by several processes.
type Store struct {
	dir     string
	options Options

	mu     sync.Mutex
	made   bool
	closed bool
	index  index
	// pinned counts, by hash, the restorings under way that need a content.
	pinned map[string]int
	// sync forces the names in a directory to the disk, and swap does the last step of a
	// restoring. Tests have them fail, or the host end there.
	sync func(dir string) error
	swap func(put func() error) error
}

var _ capability.History = (*Store)(nil)

// Open returns the history in a directory. Nothing is opened or made before it is
// asked for.
func Open(dir string, o Options) *Store {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{
		dir: dir, options: o, pinned: make(map[string]int),
		sync: atomicfile.SyncDir, swap: func(put func() error) error { return put() },
	}
}

// make makes the directory once. The mutex is held.
func (s *Store) make() error {
	if s.closed {
		return ErrClosed
	}
	if s.made || s.options.Make == nil {
		return nil
	}
	if err := s.options.Make(); err != nil {
		return err
	}
	s.made = true
	return nil
}

// Keep records a write that is about to be done, with the former content. When it
// returns without an error both are on the disk. Errors are *[abi.Error].
func (s *Store) Keep(ctx context.Context, w capability.Write) (id string, err error) {
	if !utf8.ValidString(w.Path) {
		return "", abi.Errorf(abi.CodeInvalidInput, "the path %q is no UTF-8, and the history has no words for it; rename the file or its directory", w.Path)
	}
	l := line{Record: Record{
		Kind: KindWrite, Call: w.Call.ID, Tool: w.Call.Tool, Path: w.Path,
		After: &Content{Hash: hex.EncodeToString(w.AfterHash[:]), Size: w.AfterSize},
	}}
	var before *former
	if w.Before != nil {
		before = &former{content: w.Before, size: w.BeforeSize, mode: w.Mode}
	}
	return s.keep(ctx, l, before)
}

// former is what a file was.
type former struct {
	content io.Reader
	size    int64
	mode    uint32
	// hash is what the content must be, where that is known.
	hash string
}

func (s *Store) keep(ctx context.Context, l line, before *former) (string, error) {
	err := s.begin(ctx)
	var p *packed
	if err == nil && before != nil {
		if p, err = pack(s.dir, before.content, before.size); err == nil {
			defer p.discard()
			p.content.Mode = before.mode
			l.Before = &p.content
			if before.hash != "" && before.hash != p.content.Hash {
				err = errChanging
			}
		}
	}
	if err == nil {
		err = s.add(ctx, &l, p)
	}
	switch {
	case err == nil:
		return l.ID, nil
	case errors.Is(err, errChanging):
		return "", abi.Errorf(abi.CodeChanged, "%s: %w", l.Path, err)
	case ctx.Err() != nil:
		return "", abi.Errorf(abi.CodeCancelled, "keeping what %s was: %w", l.Path, err)
	}
	return "", abi.Errorf(abi.CodeIO, "%s was not written, since what it was cannot be kept: %w; make room in %s, or write without a history (history = false below [sessions] in the settings)", l.Path, err, s.dir)
}

// begin makes the directory.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.make()
}

// add gives a record its number and writes it, with the content that p holds, if
// any.
func (s *Store) add(ctx context.Context, l *line, p *packed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change := func(log *os.File) error {
		if p != nil {
			if err := s.put(l, p); err != nil {
				return err
			}
		}
		l.ID, l.Time = idOf(s.index.next()), time.Now().UTC()
		if l.Kind == KindRestore && l.Call == "" {
			l.Call = callOf(l.ID)
		}
		return s.index.append(s.dir, log, l)
	}
	return s.locked(ctx, func() error {
		if err := s.index.change(s.dir, change); err != nil {
			return err
		}
		s.bound(l.Time)
		return nil
	})
}

// refresh reads what the log holds beyond what is known of it. The mutex is held.
func (s *Store) refresh() error {
	f, err := openLog(s.dir)
	if err != nil || f == nil {
		return err
	}
	err = s.index.read(s.dir, f)
	return errors.Join(err, f.Close())
}

// Void takes back the record of a write that was not done.
func (s *Store) Void(id string) error {
	l := line{Record: Record{ID: id, Kind: kindVoid, Time: time.Now().UTC()}}
	s.mu.Lock()
	defer s.mu.Unlock()
	change := func(log *os.File) error { return s.index.append(s.dir, log, &l) }
	err := s.locked(context.Background(), func() error { return s.index.change(s.dir, change) })
	if err != nil {
		return abi.Errorf(abi.CodeIO, "taking back the record %s of the history %s: %w", id, s.dir, err)
	}
	return nil
}

// Records returns what was written, in order, without what was taken back, and how
// many lines of the log are damaged.
func (s *Store) Records() (records []Record, damaged int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, 0, fmt.Errorf("reading the history: %w", err)
	}
	for i := range s.index.records {
		if !s.index.voided[s.index.records[i].ID] {
			records = append(records, s.index.records[i])
		}
	}
	return records, s.index.damaged, nil
}

// Close lets go of the history.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// locked does something while nobody else writes to the history, of this process or
// another. The mutex of s is held by the caller.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if err := s.make(); err != nil {
		return err
	}
	return ondisk.Locked(ctx, filepath.Join(s.dir, lockName), do)
}
