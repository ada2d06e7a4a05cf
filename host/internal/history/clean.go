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

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// spare is the part of the bound on size that is made free when it is reached, so
// that it is not reached again at once.
const spare = 10

// bound removes the oldest contents where there are too many or too old ones, but never
// the newest, nor those that a restoring needs. The lock is held. A failure is logged and
// tried again with the next write: no write fails by it.
func (c *contents) bound(now time.Time) {
	gone := c.tooMuch(now)
	if len(gone) == 0 {
		return
	}
	if err := c.drop(gone); err != nil {
		c.options.Logger.Warn("old contents of a session's history could not be removed", "history", c.dir, "error", err)
	}
}

// tooMuch returns the hashes of the contents to remove.
func (c *contents) tooMuch(now time.Time) map[string]bool {
	x := c.log
	if x.bytes <= c.options.MaxBytes && !c.anyOld(now) {
		return nil
	}
	hashes := make([]string, 0, len(x.places))
	for hash := range x.places {
		hashes = append(hashes, hash)
	}
	slices.SortFunc(hashes, func(a, b string) int {
		return cmp.Or(x.places[a].used.Compare(x.places[b].used), cmp.Compare(a, b))
	})
	limit, left := c.options.MaxBytes, x.bytes
	if left > limit {
		limit -= limit / spare
	}
	gone := make(map[string]bool)
	for _, hash := range hashes[:max(len(hashes)-1, 0)] {
		at := x.places[hash]
		if c.pinned[hash] > 0 {
			continue
		}
		if left <= limit && now.Sub(at.used) <= c.options.MaxAge {
			break
		}
		gone[hash] = true
		left -= at.bytes
	}
	return gone
}

// anyOld reports whether a record is too old whose content is kept. Records are in
// the order of time.
func (c *contents) anyOld(now time.Time) bool {
	for i := range c.log.records {
		r := &c.log.records[i]
		if now.Sub(r.Time) <= c.options.MaxAge {
			return false
		}
		if r.Before == nil {
			continue
		}
		if at, kept := c.log.places[r.Before.Hash]; kept && now.Sub(at.used) > c.options.MaxAge {
			return true
		}
	}
	return false
}

// drop removes contents. To remove those in the log it rewrites the log without them.
func (c *contents) drop(gone map[string]bool) error {
	var err error
	anew := false
	for hash := range gone {
		if c.log.places[hash].length > 0 {
			anew = true
			continue
		}
		err = errors.Join(err, os.Remove(blobPath(c.dir, hash)))
	}
	if anew {
		err = errors.Join(err, c.log.rewrite(gone))
	}
	c.log.Forget() // it is read again
	return errors.Join(err, c.log.Refresh())
}

// rewrite writes the log without some contents. Lines that are damaged stay as they
// are.
func (x *index) rewrite(gone map[string]bool) error {
	old, err := x.Open()
	if err != nil || old == nil {
		return err
	}
	defer old.Close()
	f, err := os.CreateTemp(x.Dir, temporary+"*")
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
		err = os.Rename(f.Name(), filepath.Join(x.Dir, changes.LogName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return atomicfile.SyncDir(x.Dir)
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
