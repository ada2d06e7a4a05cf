package audit

import (
	"fmt"
	"io"
	"time"
)

// end is the end of the log as this process knows it, and what is to be said of it.
type end struct {
	place
	// pending are marks to be written before the next entry.
	pending []pendingMark
	// unended says that the segment ends without a newline.
	unended bool
	// lost counts the entries that could not be written since the last one that was.
	lost  uint64
	since time.Time
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

// lines are what is to be written now; p moves on.
func (e *end) lines(p *position, entry *Entry, now time.Time) (lines []byte, err error) {
	for i := range e.pending {
		if lines, err = p.appendLine(lines, e.pending[i].kind, now, &e.pending[i].Mark); err != nil {
			return nil, err
		}
	}
	if entry == nil {
		return lines, nil
	}
	if e.lost > 0 {
		if lines, err = p.appendLine(lines, KindGap, now, Mark{Lost: e.lost, Since: e.since.UTC()}); err != nil {
			return nil, err
		}
	}
	return p.appendLine(lines, KindDecision, now, entry)
}

func (e *end) notice(note string) {
	e.pending = append(e.pending, pendingMark{KindNotice, Mark{Note: note}})
}

// scan reads a segment from the place on to its end. Lines that follow one another are
// taken; what is left at the end is torn.
func (e *end) scan(f io.ReaderAt, size int64) error {
	if size < e.size {
		e.notice(fmt.Sprintf("%s had %d bytes, where the head says %d: lines are missing before this one",
			segmentName(e.segment), size, e.size))
		e.size = size
	}
	e.unended = false
	if e.size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], e.size-1); err != nil {
			return err
		}
		e.unended = last[0] != '\n'
	}
	var left torn
	lines := newLineReader(io.NewSectionReader(f, e.size, size-e.size))
	for {
		chunk, err := lines.next()
		if err == io.EOF { //nolint:errorlint // as the reader gives it
			break
		}
		if err != nil {
			return err
		}
		e.take(chunk, &left)
	}
	e.size = size
	switch {
	case left.any() && left.newline:
		// A crash does not write the end of a line without its middle.
		e.notice("what is before this one is no line, and no crash left it")
	case left.any():
		// It comes right after what it is about.
		mark := pendingMark{KindTorn, Mark{Bytes: left.bytes, SHA256: left.sum()}}
		e.pending = append([]pendingMark{mark}, e.pending...)
	}
	return nil
}

// take adds one line to what is known, or to what is torn. At the beginning of a
// segment that is read without a head, whatever comes first is believed.
func (e *end) take(chunk chunk, left *torn) {
	found, ok := link{}, false
	if chunk.whole {
		found, ok = parseLink(chunk.line())
	}
	if ok && (found.follows(e.position) || e.position == position{}) {
		e.position = found.position
		*left = torn{}
		e.unended = false
		return
	}
	left.add(chunk.text)
	e.unended = chunk.text[len(chunk.text)-1] != '\n'
}
