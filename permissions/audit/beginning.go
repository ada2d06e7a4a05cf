package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// opening is the first line of a segment that is as it was written.
type opening struct {
	link
	time time.Time
}

// openingOf reads it from the first bytes of a segment. Before it, there may be what a crash
// left of another.
func openingOf(f io.ReaderAt, size int64) (opening, error) {
	lines := newLineReader(io.NewSectionReader(f, 0, min(size, 2*maxLine)))
	for {
		c, err := lines.next()
		if errors.Is(err, io.EOF) {
			return opening{}, errors.New("it begins with no line that is as it was written")
		}
		if err != nil {
			return opening{}, err
		}
		if !c.whole {
			continue
		}
		if l, ok := parseLink(c.line()); ok {
			var at struct {
				Time time.Time `json:"time"`
			}
			err := json.Unmarshal(c.line(), &at)
			return opening{l, at.Time}, err
		}
	}
}

// before is the line that comes before it.
func (o *opening) before() position { return position{seq: o.seq - 1, hash: o.prev} }

// timedMark is a mark and when it was written.
type timedMark struct {
	Mark
	Time time.Time `json:"time"`
}

// beginning is where a log begins that lacks its first lines.
type beginning struct {
	// opening is the fault that it is unless the log vouches for it; nil is that the first
	// line is there.
	opening *Fault
	before  position
	from    *Dropped
}

// beginAt takes the first line that there is, and returns the one before it.
func (b *beginning) beginAt(l *link, at Fault) position {
	at.Kind, at.Detail = FaultRemoved, fmt.Sprintf("%d lines are missing before line %d", l.seq-1, l.seq)
	b.opening, b.before = &at, position{seq: l.seq - 1, hash: l.prev}
	return b.before
}

// vouch takes what the log says of a segment that was dropped.
func (b *beginning) vouch(m *timedMark) {
	if b.opening != nil && m.Through == b.before.seq && m.ThroughHash == fmt.Sprintf("%x", b.before.hash) {
		b.from = &Dropped{Segment: m.Segment, Seq: m.Through, Hash: m.ThroughHash, Time: m.Time}
	}
}

// unvouched is the fault of the beginning, or nil.
func (b *beginning) unvouched() *Fault {
	if b.opening == nil || b.from != nil && b.opening.Kind == FaultRemoved {
		return nil
	}
	return b.opening
}
