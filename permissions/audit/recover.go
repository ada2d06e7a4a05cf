package audit

import (
	"crypto/rand"
	"fmt"
	"os"

	"github.com/toolquay/toolquay/internal/atomicfile"
)

// catchUp finds the end of the log, after other processes wrote to it, or when
// it is opened. It leaves what a crash or somebody else did to it as it is, and
// notes it for the next write. The lock is held.
func (l *Log) catchUp() error {
	l.head.written, l.end.pending, l.end.unended = nil, nil, false
	all, err := segments(l.dir)
	if err != nil {
		return err
	}
	head, found, err := l.head.open(l.dir)
	if err != nil {
		return err
	}
	if len(all) == 0 && !found {
		l.end.place, l.end.pending = place{}, []pendingMark{genesisMark()}
		return l.begin(1)
	}
	if !found {
		return l.withoutHead(all)
	}
	if len(all) == 0 || all[len(all)-1] < head.segment {
		// Its place is never taken again: that the segment is gone stays to be seen.
		l.end.notice(fmt.Sprintf("the segment %s was missing", segmentName(head.segment)))
		l.end.place = head
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
	if l.end.position == (position{}) {
		l.end.pending = append(l.end.pending, genesisMark())
		return nil
	}
	l.end.notice("the head was missing or damaged, so it cannot be told whether lines are missing before this one")
	return nil
}

// adopt takes the end of the log as the head says it, if that is the end of the
// segment that is open: another process wrote to it, and nothing went wrong.
func (l *Log) adopt() bool {
	if l.segment.file == nil || l.head.file == nil || !l.head.same() {
		return false
	}
	head, err := readHead(l.head.file)
	if err != nil || head.segment != l.end.segment || head.seq < l.end.seq || !l.segment.current(head.size) {
		return false
	}
	l.head.written = formatHead(head)
	l.end.place, l.end.pending, l.end.unended = head, nil, false
	return true
}

func genesisMark() pendingMark {
	return pendingMark{KindGenesis, Mark{Version: version, ID: rand.Text()}}
}

// begin makes a segment and opens it: what is written next goes there. Where it
// exists already, empty, a writer died before its first line.
func (l *Log) begin(segment int) error {
	if err := l.segment.open(l.dir, segment, os.O_CREATE); err != nil {
		return err
	}
	if size := l.segment.info.Size(); size != 0 {
		return fmt.Errorf("%s has %d bytes where there should be none", l.segment.file.Name(), size)
	}
	l.end.segment, l.end.size = segment, 0
	if l.options.Sync == SyncNever {
		return nil
	}
	return atomicfile.SyncDir(l.dir) // a synced file is lost with its name
}

// scanFrom reads from a place in one of the segments to the end of the last.
func (l *Log) scanFrom(all []int, from place) error {
	l.end.place = from
	for _, segment := range all {
		if segment < from.segment {
			continue
		}
		if segment > from.segment {
			l.end.segment, l.end.size = segment, 0
		}
		if err := l.segment.open(l.dir, segment, 0); err != nil {
			return err
		}
		if err := l.end.scan(l.segment.file, l.segment.info.Size()); err != nil {
			return err
		}
	}
	return nil
}
