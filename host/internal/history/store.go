package history

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/privatedir"
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

// DefaultExcept are the names of directories whose many files package managers and compilers rewrite again and again.
var DefaultExcept = []string{
	"node_modules", "bower_components", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
	"target", ".gradle", ".next", ".nuxt", ".turbo", ".parcel-cache", ".terraform",
}

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
	// Except are names of directories in which the changes of commands are not kept; the writes of
	// tools are. Nil is [DefaultExcept].
	Except []string
	// Make makes the history's directory, before the first thing is kept in it; nil
	// is for one that is there. It is called until it succeeds once.
	Make func() error
	// Logger is told what goes wrong beside the writes themselves; nil discards it.
	Logger *slog.Logger
}

// Store is the history of one session. It is safe for concurrent use, and so is its
// directory by several processes.
type Store struct {
	mu       sync.Mutex // guards dir, log and contents
	dir      directory
	log      *index
	contents contents
	// watches is the set of this process's running commands: its keys are *Watch.
	watches sync.Map
	// moment is a hook for tests. It is called with "recorded" and "done" when a file is restored, and with
	// "ledger" before a ledger is read.
	moment func(name string)
}

// directory is that of a history. It is made before the first thing is kept in it.
type directory struct {
	path         string
	create       func() error // nil where it is there
	made, closed bool
}

// make makes the directory once.
func (d *directory) make() error {
	if d.closed {
		return ErrClosed
	}
	if d.made || d.create == nil {
		return nil
	}
	if err := d.create(); err != nil {
		return err
	}
	d.made = true
	return nil
}

// locked calls do while nobody else writes to the history, in this process or another.
// The caller holds the mutex of the history.
func (d *directory) locked(ctx context.Context, do func() error) error {
	if err := d.make(); err != nil {
		return err
	}
	return privatedir.Locked(ctx, filepath.Join(d.path, lockName), do)
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
	if o.Except == nil {
		o.Except = DefaultExcept
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	log := newIndex(dir)
	return &Store{
		dir: directory{path: dir, create: o.Make}, log: log, contents: contents{dir, log, o, make(map[string]int)},
		moment: func(string) {},
	}
}

// Keep records a write that is about to be done, with the former content. When it
// returns without an error both are on the disk. Errors are *[abi.Error].
func (s *Store) Keep(ctx context.Context, w capability.Write) (id string, err error) {
	if !utf8.ValidString(w.Path) {
		return "", noWords(w.Path)
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

// KeepAll is [Store.Keep] for several changes of any kind: it records all of them or none, and
// returns their ids. before holds the former content of each file; nil where there was none.
func (s *Store) KeepAll(ctx context.Context, by capability.Call, list []changes.Change, before []io.Reader) (ids []string, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	items := make([]item, len(list))
	defer func() {
		for _, it := range items {
			it.p.discard()
		}
	}()
	for i := range list {
		c := &list[i]
		if !utf8.ValidString(c.Path) {
			return nil, noWords(c.Path)
		}
		items[i].l = &line{Record: Record{Kind: KindWrite, Call: by.ID, Tool: by.Tool, Path: c.Path, Before: c.Before, After: c.After}}
		if !c.Before.Is(changes.File) {
			continue
		}
		if err := s.pack(ctx, &items[i], &former{before[i], c.Before.Size, c.Before.Mode, c.Before.Hash}); err != nil {
			return nil, s.unkept(ctx, c.Path, err)
		}
	}
	if err = s.begin(ctx); err == nil {
		err = s.add(ctx, items...)
	}
	if err != nil {
		return nil, s.unkept(ctx, list[0].Path, err)
	}
	for _, it := range items {
		ids = append(ids, it.l.ID)
	}
	return ids, nil
}

func noWords(path string) error {
	return abi.Errorf(abi.CodeInvalidInput, "the path %q is not UTF-8, which the history cannot record; rename the file or its directory", path)
}

// former is what a file was.
type former struct {
	content io.Reader
	size    int64
	mode    uint32
	// hash is what the content must be, where that is known.
	hash string
}

// item is a record with the former content that belongs to it, if any.
type item struct {
	l *line
	p *packed
}

func (s *Store) keep(ctx context.Context, l line, before *former) (string, error) {
	it := item{l: &l}
	err := s.begin(ctx)
	if err == nil && before != nil {
		err = s.pack(ctx, &it, before)
		defer it.p.discard()
	}
	if err == nil {
		err = s.add(ctx, it)
	}
	if err != nil {
		return "", s.unkept(ctx, l.Path, err)
	}
	return l.ID, nil
}

// pack compresses the former content of a file, for its record.
func (s *Store) pack(ctx context.Context, it *item, before *former) (err error) {
	if err := s.begin(ctx); err != nil {
		return err
	}
	if it.p, err = pack(s.dir.path, before.content, before.size, true); err != nil {
		return err
	}
	it.p.content.Mode = before.mode
	it.l.Before = &it.p.content
	if before.hash != "" && before.hash != it.p.content.Hash {
		return errChanging
	}
	return nil
}

// unkept returns the error for a file whose former content or record could not be kept.
func (s *Store) unkept(ctx context.Context, path string, err error) error {
	switch {
	case errors.Is(err, errChanging):
		return abi.Errorf(abi.CodeChanged, "%s: %w", path, err)
	case ctx.Err() != nil:
		return abi.Errorf(abi.CodeCancelled, "keeping the former content of %s: %w", path, err)
	}
	return abi.Errorf(abi.CodeIO, "%s was not written, because its former content cannot be kept: %w; make room in %s, or write without a history (history = false below [sessions] in the settings)", path, err, s.dir.path)
}

// begin makes the directory.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir.make()
}

// add gives records their ids and appends them to the log durably, with their former contents.
func (s *Store) add(ctx context.Context, items ...item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir.locked(ctx, func() error {
		if err := s.log.Refresh(); err != nil {
			return err
		}
		now := time.Now().UTC()
		lines := make([]*line, len(items))
		for i, it := range items {
			if it.p != nil {
				if err := s.contents.put(it.l, it.p); err != nil {
					return err
				}
			}
			lines[i] = it.l
			it.l.ID, it.l.Time = idOf(s.log.last+1+i), now
			if it.l.Kind == KindRestore && it.l.Call == "" {
				it.l.Call = callOf(lines[0].ID)
			}
		}
		if err := s.log.append(lines...); err != nil {
			return err
		}
		s.contents.bound(now)
		return nil
	})
}

// Void takes back the record of a write that was not done.
func (s *Store) Void(id string) error {
	l := line{Record: Record{ID: id, Kind: kindVoid, Time: time.Now().UTC()}}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.dir.locked(context.Background(), func() error {
		if err := s.log.Refresh(); err != nil {
			return err
		}
		return s.log.append(&l)
	})
	if err != nil {
		return abi.Errorf(abi.CodeIO, "taking back the record %s of the history %s: %w", id, s.dir.path, err)
	}
	return nil
}

// Records returns what was written, in order, without what was taken back, and how
// many lines of the log are damaged.
func (s *Store) Records() (records []Record, damaged int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.Refresh(); err != nil {
		return nil, 0, fmt.Errorf("reading the history: %w", err)
	}
	for i := range s.log.records {
		if !s.log.voided[s.log.records[i].ID] {
			records = append(records, s.log.records[i])
		}
	}
	return records, s.log.damaged, nil
}

// Content reads what a file was. It is held to its hash: reading ends with an error
// that is [ErrNotKept] where it is damaged, as Content does where it is not there.
func (s *Store) Content(c *Content) (io.ReadCloser, error) {
	at, err := s.find(c.Hash)
	if err != nil {
		return nil, err
	}
	return s.contents.open(c, at)
}

// find looks up where a content is now: another process may have removed it.
func (s *Store) find(hash string) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.Refresh(); err != nil {
		return place{}, fmt.Errorf("reading the history: %w", err)
	}
	at, ok := s.log.places[hash]
	if !ok {
		return place{}, ErrNotKept
	}
	return at, nil
}

// Close closes the history. Nothing is kept in it any more.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir.closed = true
	return nil
}
