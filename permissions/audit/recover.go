package audit

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// catchUp finds the end of the log, after other processes wrote to it, or when
// it is opened. It leaves what a crash or somebody else did to it as it is, and
// notes it for the next write. The lock is held.
func (l *Log) catchUp() error {
	l.written, l.pending, l.unended = nil, nil, false
	all, err := segments(l.dir)
	if err != nil {
		return err
	}
	head, found, err := l.openHead()
	if err != nil {
		return err
	}
	if len(all) == 0 && !found {
		return l.genesis()
	}
	if !found {
		return l.withoutHead(all)
	}
	if len(all) == 0 || all[len(all)-1] < head.segment {
		// Its place is never taken again: that the segment is gone stays to be seen.
		l.notice(fmt.Sprintf("the segment %s was missing", segmentName(head.segment)))
		l.at = head
		return l.begin(head.segment + 1)
	}
	return l.scanFrom(all, head)
}

// withoutHead reads the last segment, and the one before for the case that
// nothing was written to the last yet.
func (l *Log) withoutHead(all []int) error {
	if err := l.scanFrom(all, place{segment: all[max(0, len(all)-2)]}); err != nil {
		return err
	}
	if l.at.position == (position{}) {
		l.pending = append(l.pending, genesisMark())
		return nil
	}
	l.notice("the head was missing or damaged, so it cannot be told whether lines are missing before this one")
	return nil
}

// adopt takes the end of the log as the head says it, if that is the end of the
// segment that is open: another process wrote to it, and nothing went wrong.
func (l *Log) adopt() bool {
	if l.segment == nil || l.head == nil || !l.sameHead() {
		return false
	}
	head, err := readHead(l.head)
	if err != nil || head.segment != l.at.segment || head.seq < l.at.seq {
		return false
	}
	info, err := os.Lstat(l.segment.Name())
	if err != nil || info.Size() != head.size || !os.SameFile(info, l.opened) {
		return false
	}
	l.at, l.written, l.pending, l.unended = head, formatHead(head), nil, false
	return true
}

func (l *Log) notice(note string) {
	l.pending = append(l.pending, pendingMark{KindNotice, Mark{Note: note}})
}

// genesis begins a log.
func (l *Log) genesis() error {
	l.at = place{}
	l.pending = []pendingMark{genesisMark()}
	return l.begin(1)
}

func genesisMark() pendingMark {
	return pendingMark{KindGenesis, Mark{Version: version, ID: rand.Text()}}
}

// begin makes a segment and opens it: what is written next goes there. Where it
// exists already, empty, a writer died before its first line.
func (l *Log) begin(segment int) error {
	if err := l.openSegment(segment, os.O_CREATE); err != nil {
		return err
	}
	if size := l.opened.Size(); size != 0 {
		return fmt.Errorf("%s has %d bytes where there should be none", l.segment.Name(), size)
	}
	l.at.segment, l.at.size = segment, 0
	return nil
}

func (l *Log) openSegment(segment, flags int) error {
	f, info, err := privatedir.OpenOwn(l.path(segmentName(segment)), flags|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	if l.segment != nil {
		if l.options.Sync == SyncBatch {
			err = l.segment.Sync() // nobody else will
		}
		_ = l.segment.Close()
	}
	l.segment, l.opened = f, info
	return err
}

// scanFrom reads from a place in one of the segments to the end of the last.
func (l *Log) scanFrom(all []int, from place) error {
	l.at = from
	for _, segment := range all {
		if segment < from.segment {
			continue
		}
		if segment > from.segment {
			l.at.segment, l.at.size = segment, 0
		}
		if err := l.openSegment(segment, 0); err != nil {
			return err
		}
		if err := l.scan(); err != nil {
			return err
		}
	}
	return nil
}

// scan reads the open segment from l.at on. Lines that follow one another are
// taken; what is left at the end is torn.
func (l *Log) scan() error {
	size := l.opened.Size()
	if size < l.at.size {
		l.notice(fmt.Sprintf("%s had %d bytes, where the head says %d: lines are missing before this one",
			segmentName(l.at.segment), size, l.at.size))
		l.at.size = size
	}
	if err := l.findNewline(); err != nil {
		return err
	}
	var left torn
	lines := newLineReader(io.NewSectionReader(l.segment, l.at.size, size-l.at.size))
	for {
		chunk, err := lines.next()
		if err == io.EOF { //nolint:errorlint // as the reader gives it
			break
		}
		if err != nil {
			return err
		}
		l.take(chunk, &left)
	}
	l.at.size = size
	switch {
	case left.any() && left.newline:
		// A crash does not write the end of a line without its middle.
		l.notice("what is before this one is no line, and no crash left it")
	case left.any():
		// It comes right after what it is about.
		mark := pendingMark{KindTorn, Mark{Bytes: left.bytes, SHA256: left.sum()}}
		l.pending = append([]pendingMark{mark}, l.pending...)
	}
	return nil
}

// take adds one line to what is known, or to what is torn. At the beginning of a
// segment that is read without a head, whatever comes first is believed.
func (l *Log) take(chunk chunk, left *torn) {
	found, ok := link{}, false
	if chunk.whole {
		found, ok = parseLink(chunk.line())
	}
	if ok && (found.follows(l.at.position) || l.at.position == position{}) {
		l.at.position = found.position
		*left = torn{}
		l.unended = false
		return
	}
	left.add(chunk.text)
	l.unended = chunk.text[len(chunk.text)-1] != '\n'
}

// findNewline finds out whether the bytes before l.at end a line.
func (l *Log) findNewline() error {
	l.unended = false
	if l.at.size == 0 {
		return nil
	}
	var last [1]byte
	if _, err := l.segment.ReadAt(last[:], l.at.size-1); err != nil {
		return err
	}
	l.unended = last[0] != '\n'
	return nil
}
