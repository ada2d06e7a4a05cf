package history

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// save keeps the content of the unsaved file that is at a path now and is about to be lost. If another file is there,
// nothing is kept: then the call that was to move the file there has failed.
func (w *Watch) save(path string, s spot) {
	t := w.unsaved[path]
	delete(w.unsaved, path)
	if s.file == nil || !t.stamp.content(s.info) {
		return
	}
	w.found(t)
	size := s.info.Size()
	switch {
	case size > maxKeptFile:
		t.lose(fmt.Sprintf("its former content is over %d MiB", maxKeptFile>>20))
		return
	case w.bytes+size > maxKeptBytes:
		t.lose(fmt.Sprintf("the former contents of one command are over %d MiB", maxKeptBytes>>20))
		return
	}
	f, err := s.open()
	if err != nil {
		t.lose("its former content could not be read")
		return
	}
	defer f.Close()
	if err := w.pack(t, f, size); err != nil {
		t.lose("its former content could not be kept: " + err.Error())
		return
	}
	w.bytes += size
}

// found forgets the paths where a content may be, because it was found.
func (w *Watch) found(t *touched) {
	for _, place := range t.places {
		if w.unsaved[place] == t {
			delete(w.unsaved, place)
		}
	}
	t.places = nil
}

// pack keeps a content: in the ledger if it is small, or else in a file of the history, which is fsynced only when
// the command has ended.
func (w *Watch) pack(t *touched, r io.Reader, size int64) error {
	if err := w.store.begin(context.Background()); err != nil {
		return err
	}
	p, err := pack(w.store.dir.path, r, size, false)
	if err != nil {
		return err
	}
	defer p.discard()
	if p.file == "" && len(p.held) <= maxInline {
		t.inline = p.held
	} else if err := w.store.hold(w, p); err != nil {
		return err
	}
	t.was.Hash, t.was.Size = p.content.Hash, p.content.Size
	return nil
}

// hold stores a content in a file before the log names it. It pins the content first, so that the content is not
// removed before [Store.release].
func (s *Store) hold(w *Watch, p *packed) error {
	s.mu.Lock()
	s.contents.pinned[p.content.Hash]++
	w.held = append(w.held, p.content.Hash)
	s.mu.Unlock()
	_, err := p.save(s.dir.path, false)
	return err
}

// release unpins the contents that hold has pinned.
func (s *Store) release(w *Watch) {
	if w.replayed {
		return // it pinned none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hash := range w.held {
		if s.contents.pinned[hash]--; s.contents.pinned[hash] == 0 {
			delete(s.contents.pinned, hash)
		}
	}
	w.held = nil
}

// addCommand adds the records of a command to the log durably. It fsyncs the contents that are held for it first.
func (s *Store) addCommand(ctx context.Context, w *Watch, lines []*line) error {
	if len(lines) == 0 {
		return nil
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if err := s.flush(w.held); err != nil {
		return err
	}
	now := lines[0].Time
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir.locked(ctx, func() error {
		if err := s.log.Refresh(); err != nil {
			return err
		}
		if w.replayed {
			lines = s.log.unknown(lines)
		}
		for i, l := range lines {
			l.ID = idOf(s.log.last + 1 + i)
		}
		if err := s.log.append(lines...); err != nil {
			return err
		}
		s.contents.bound(now)
		return nil
	})
}

// unknown returns the lines of a command that the log does not have yet. It has them already if the host was killed
// between writing them and removing the ledger.
func (x *index) unknown(lines []*line) []*line {
	have := make(map[string]bool)
	for i := range x.records {
		if r := &x.records[i]; r.Watch != "" {
			have[r.Watch+"\x00"+r.Path] = true
		}
	}
	return slices.DeleteFunc(lines, func(l *line) bool { return have[l.Watch+"\x00"+l.Path] })
}

// flush fsyncs the files of contents.
func (s *Store) flush(hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	for _, hash := range hashes {
		f, err := os.Open(blobPath(s.dir.path, hash))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a killed host pins nothing, so it may be removed by now
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(s.dir.path)
}

// hashOf returns the hash and size of a file's content.
func hashOf(ctx context.Context, f *os.File) (hash string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, changes.Cancellable(ctx, io.NewSectionReader(f, 0, maxFile)))
	return sumHex(h), size, err
}

// maxFile is the largest size of a file.
const maxFile = 1<<63 - 1

// Unknown records that it is not known what a command changed.
func (s *Store) Unknown(ctx context.Context, call capability.Call, why string) error {
	l := line{Record: Record{Kind: KindCommand, Call: call.ID, Tool: call.Tool, Gaps: "what it changed is not known: " + why}}
	_, err := s.keep(ctx, l, nil)
	return err
}
