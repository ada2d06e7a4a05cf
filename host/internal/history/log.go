package history

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

const lockName = "lock"

// place is where a content is kept.
type place struct {
	// offset and length are of its line in the log; length 0 is a file of its own.
	offset int64
	length int
	// bytes is what it takes.
	bytes int64
	// used is when it was last what a file was before a write.
	used time.Time
}

// index is a log, with what was read from it.
type index struct {
	changes.Log
	known
}

// known is what was read from the lines of a log.
type known struct {
	records []Record
	voided  map[string]bool
	places  map[string]place
	// last is the highest number of a record, and damaged how many lines are not
	// what was written.
	last, damaged int
	// bytes is what all contents take.
	bytes int64
}

func newIndex(dir string) *index {
	x := &index{Log: changes.Log{Dir: dir, Max: maxLine}}
	x.Reset = func() { x.known = known{voided: make(map[string]bool), places: make(map[string]place)} }
	x.Take = x.take
	return x
}

// take adds a line of the log, which begins at an offset in bytes. It counts damaged lines.
func (x *index) take(text []byte, offset int64) {
	l, ok := decode(text)
	if !ok {
		x.damaged++
		x.last++ // whatever its number was, none is given twice
		return
	}
	if l.Kind == kindVoid {
		x.voided[l.ID] = true
		return
	}
	x.last = max(x.last, number(l.ID))
	x.records = append(x.records, l.Record)
	if l.Before.Is(changes.File) {
		x.place(&l, offset, len(text))
	}
}

func (x *index) place(l *line, offset int64, length int) {
	was, known := x.places[l.Before.Hash]
	at := was
	at.used = l.Time
	switch {
	case len(l.Inline) > 0: // also of one that is known: then that was damaged
		at = place{offset: offset, length: length, bytes: was.bytes + int64(len(l.Inline)), used: l.Time}
	case known:
	default:
		info, err := os.Stat(blobPath(x.Dir, l.Before.Hash))
		if err != nil {
			return // it is kept no longer
		}
		at.bytes = info.Size()
	}
	x.bytes += at.bytes - was.bytes
	x.places[l.Before.Hash] = at
}

// saved notes that a content is in a file of its own.
func (x *index) saved(hash string, size int64) {
	was := x.places[hash]
	x.bytes += size - was.bytes
	if x.places == nil { // there is no log yet
		x.Reset()
	}
	x.places[hash] = place{bytes: size, used: was.used}
}

// append adds lines to the log durably. The caller holds the lock and has refreshed the log.
func (x *index) append(lines ...*line) error {
	var text []byte
	for _, l := range lines {
		one, err := l.encode()
		if err != nil {
			return err
		}
		text = append(text, one...)
	}
	return x.Append(text)
}

// inline reads a content that stands in the log.
func (x *index) inline(hash string, at place) ([]byte, error) {
	f, err := x.Open()
	if err != nil || f == nil {
		return nil, errors.Join(err, ErrNotKept)
	}
	defer f.Close()
	text := make([]byte, at.length)
	if _, err := f.ReadAt(text, at.offset); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	l, ok := decode(text)
	if !ok || l.Before == nil || l.Before.Hash != hash || len(l.Inline) == 0 {
		return nil, ErrNotKept // the log was written anew meanwhile
	}
	return l.Inline, nil
}
