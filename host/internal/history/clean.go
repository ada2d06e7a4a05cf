package history

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/internal/atomicfile"
)

// spare is the part of the bound on size that is made free when it is reached, so
// that it is not reached again at once.
const spare = 10

// bound lets the oldest contents go where there are too many or too old ones; the
// newest stays in any case, and what a restoring is about to need. The lock is held. What fails is told and tried again
// with the next write: no write fails by it.
func (s *Store) bound(now time.Time) {
	gone := s.tooMuch(now)
	if len(gone) == 0 {
		return
	}
	if err := s.drop(gone); err != nil {
		s.options.Logger.Warn("old contents of a session's history could not be removed", "history", s.dir, "error", err)
	}
}

// pin keeps contents from being let go of until unpin is called: what is kept of the
// first files of a restoring would else take the place of what the others were.
func (s *Store) pin(spans []*span) (unpin func()) {
	count := func(by int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range spans {
			if p.before == nil {
				continue
			}
			if s.pinned[p.before.Hash] += by; s.pinned[p.before.Hash] == 0 {
				delete(s.pinned, p.before.Hash)
			}
		}
	}
	count(1)
	return func() { count(-1) }
}

// tooMuch are the contents that are to go, by hash.
func (s *Store) tooMuch(now time.Time) map[string]bool {
	x := &s.index
	if x.bytes <= s.options.MaxBytes && !s.anyOld(now) {
		return nil
	}
	hashes := make([]string, 0, len(x.places))
	for hash := range x.places {
		hashes = append(hashes, hash)
	}
	slices.SortFunc(hashes, func(a, b string) int {
		return cmp.Or(x.places[a].used.Compare(x.places[b].used), cmp.Compare(a, b))
	})
	limit, left := s.options.MaxBytes, x.bytes
	if left > limit {
		limit -= limit / spare
	}
	gone := make(map[string]bool)
	for _, hash := range hashes[:max(len(hashes)-1, 0)] {
		at := x.places[hash]
		if s.pinned[hash] > 0 {
			continue
		}
		if left <= limit && now.Sub(at.used) <= s.options.MaxAge {
			break
		}
		gone[hash] = true
		left -= at.bytes
	}
	return gone
}

// anyOld reports whether a record is too old whose content is kept. Records are in
// the order of time.
func (s *Store) anyOld(now time.Time) bool {
	for i := range s.index.records {
		r := &s.index.records[i]
		if now.Sub(r.Time) <= s.options.MaxAge {
			return false
		}
		if r.Before == nil {
			continue
		}
		if at, kept := s.index.places[r.Before.Hash]; kept && now.Sub(at.used) > s.options.MaxAge {
			return true
		}
	}
	return false
}

// drop removes contents. Those in the log go by writing it anew without them.
func (s *Store) drop(gone map[string]bool) error {
	var err error
	anew := false
	for hash := range gone {
		if s.index.places[hash].length > 0 {
			anew = true
			continue
		}
		err = errors.Join(err, os.Remove(blobPath(s.dir, hash)))
	}
	if anew {
		err = errors.Join(err, s.rewrite(gone))
	}
	s.index = index{} // it is read again
	return errors.Join(err, s.refresh())
}

// rewrite writes the log without some contents. Lines that are damaged stay as they
// are.
func (s *Store) rewrite(gone map[string]bool) error {
	old, err := openLog(s.dir)
	if err != nil || old == nil {
		return err
	}
	defer old.Close()
	f, err := os.CreateTemp(s.dir, temporary+"*")
	if err != nil {
		return err
	}
	err = copyWithout(f, old, gone)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		_ = old.Close() // some systems rename over no open file
		err = os.Rename(f.Name(), filepath.Join(s.dir, logName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return atomicfile.SyncDir(s.dir)
}

func copyWithout(to, from *os.File, gone map[string]bool) error {
	out := bufio.NewWriter(to)
	lines := bufio.NewReaderSize(from, maxLine+1)
	for {
		text, err := lines.ReadSlice('\n')
		if len(text) == 0 && err != nil {
			return errors.Join(ignoreEnd(err), out.Flush())
		}
		if l, ok := decode(text[:max(len(text)-1, 0)]); ok && l.Before != nil && gone[l.Before.Hash] && len(l.Inline) > 0 {
			l.Inline = nil
			if text, err = l.encode(); err != nil {
				return err
			}
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
