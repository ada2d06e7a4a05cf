package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/filelock"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// FaultKind says what is wrong with a log.
type FaultKind string

// The faults.
const (
	// FaultChanged is a line that is not as it was written.
	FaultChanged FaultKind = "changed"
	// FaultRemoved is a place where lines are missing.
	FaultRemoved FaultKind = "removed"
	// FaultInserted is a line that was put in, or repeated.
	FaultInserted FaultKind = "inserted"
	// FaultReordered is a line that stands too early.
	FaultReordered FaultKind = "reordered"
	// FaultTruncated is a log that ends before the line its head names: it was
	// cut, or a machine lost power before lines reached the disk.
	FaultTruncated FaultKind = "truncated"
	// FaultUnknown is a log that lacks the line whose hash the caller knows.
	FaultUnknown FaultKind = "unknown"
)

// Fault is the first thing that is wrong.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// File and Line say where: the segment's name and the 1-based line in it.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Seq is the number of the line that was expected there.
	Seq    uint64 `json:"seq,omitempty"`
	Detail string `json:"detail"`
}

// String says it in one line.
func (f *Fault) String() string {
	if f.File == "" {
		return fmt.Sprintf("%s: %s", f.Kind, f.Detail)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Kind, f.Detail)
}

// HeadState is what the head file says of the log's end.
type HeadState string

// The states of a head.
const (
	// HeadMatches: the log ends where the head says, or has lines after it
	// that a crash kept the head from naming.
	HeadMatches HeadState = "matches"
	// HeadMissing and HeadDamaged: that lines are missing at the end could not
	// be seen.
	HeadMissing HeadState = "missing"
	HeadDamaged HeadState = "damaged"
)

// Report is what [Verify] found.
type Report struct {
	// ID is the log's, from its first line.
	ID       string `json:"id,omitempty"`
	Segments int    `json:"segments"`
	Bytes    int64  `json:"bytes"`
	// Lines are all that are whole, and Decisions those of them that are
	// decisions.
	Lines     uint64 `json:"lines"`
	Decisions uint64 `json:"decisions"`
	// Seq and Hash are those of the last line: keep the hash elsewhere to hold
	// the log to it later.
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash,omitempty"`
	// Torn counts the places where a crash left an incomplete line.
	Torn int `json:"torn"`
	// Lost counts the entries that could not be written, as writers said.
	Lost uint64 `json:"lost"`
	// Notices counts what writers found odd; [Read] shows them.
	Notices int `json:"notices"`
	// From says where the chain begins, if older segments were dropped.
	From *Dropped  `json:"from,omitempty"`
	Head HeadState `json:"head"`
	// Fault is the first thing wrong, or nil.
	Fault *Fault `json:"fault,omitempty"`
}

// Dropped is the last line of the newest segment that was dropped.
type Dropped struct {
	Segment int    `json:"segment"`
	Seq     uint64 `json:"seq"`
	Hash    string `json:"hash"`
	// Time is when the log said so.
	Time time.Time `json:"time"`
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return r.Fault == nil }

// Verify reads a whole log and holds it to its chain and its head, in memory
// that does not grow with it. Known is the hash of any line of it that was kept
// elsewhere, or empty: with it, rewriting the log up to that line is seen too.
//
// What is wrong with the log is in the report; an error means that it could not
// be read. Writers may go on meanwhile: what is read is the log as it was at the
// beginning.
func Verify(dir, known string) (Report, error) {
	v := &verifier{dir: dir, known: strings.ToLower(known)}
	if v.known != "" && (len(v.known) != hexDigest || !unhex(new(digest), []byte(v.known))) {
		return v.report, fmt.Errorf("%q is not the hash of a line: 64 hexadecimal digits", known)
	}
	err := v.run()
	for tries := 0; errors.Is(err, errGone) && tries < 10; tries++ {
		*v = verifier{dir: dir, known: v.known}
		err = v.run()
	}
	if err != nil {
		return v.report, fmt.Errorf("verifying the decision log: %w", err)
	}
	return v.report, nil
}

type verifier struct {
	dir    string
	known  string
	report Report

	last      position
	headPlace place
	lastSize  int64 // of the last segment
	// left is what does not parse since the last good line, and leftAt where it
	// begins.
	left   torn
	leftAt Fault
	// missing are the numbers that the first fault says are removed: [0] up to,
	// not including, [1].
	missing [2]uint64
	found   bool // the known hash
	beginning
}

func (v *verifier) run() error {
	all, err := v.snapshot()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s holds no log", v.dir)
	}
	for i, n := range all {
		if err := v.segment(n, i == len(all)-1); err != nil {
			return err
		}
	}
	v.end()
	return nil
}

// snapshot notes where the log ends, between two writes if that can be had.
func (v *verifier) snapshot() ([]int, error) {
	lock, _, err := privatedir.OpenRegular(filepath.Join(v.dir, lockName), 0)
	if err == nil {
		defer lock.Close()
		if filelock.Wait(lock, lockWait) == nil {
			defer filelock.Unlock(lock)
		}
	}
	all, err := segments(v.dir)
	if err != nil || len(all) == 0 {
		return all, err
	}
	info, err := os.Lstat(filepath.Join(v.dir, segmentName(all[len(all)-1])))
	if err != nil {
		return nil, err
	}
	v.lastSize = info.Size()
	return all, v.readHead()
}

func (v *verifier) readHead() error {
	f, _, err := privatedir.OpenRegular(filepath.Join(v.dir, headName), 0)
	if errors.Is(err, fs.ErrNotExist) {
		v.report.Head = HeadMissing
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	v.report.Head = HeadMatches
	if v.headPlace, err = readHead(f); err != nil {
		v.report.Head = HeadDamaged
	}
	return nil
}

// errGone is that a segment was dropped while the log was verified.
var errGone = errors.New("it was dropped meanwhile")

// segment reads one file.
func (v *verifier) segment(n int, last bool) error {
	name := segmentName(n)
	f, info, err := privatedir.OpenRegular(filepath.Join(v.dir, name), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, errGone)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	size := info.Size()
	if last {
		size = min(size, v.lastSize)
	}
	v.report.Segments++
	v.report.Bytes += size
	at := Fault{File: name}
	fresh := true
	for lines := newLineReader(io.NewSectionReader(f, 0, size)); ; {
		chunk, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if fresh {
			at.Line++
		}
		fresh = chunk.text[len(chunk.text)-1] == '\n'
		v.take(chunk, at)
	}
}

// take holds one line to the one before.
func (v *verifier) take(c chunk, at Fault) {
	var l link
	ok := false
	if c.whole {
		l, ok = parseLink(c.line())
	}
	if !ok {
		if !v.left.any() {
			v.leftAt = at
		}
		v.left.add(c.text)
		return
	}
	mark := markOf(&l, c.line())
	at.Seq = v.last.seq + 1
	if v.report.Lines == 0 && l.seq > 1 && (!v.left.any() || l.kind == KindTorn) {
		v.last = v.beginAt(&l, at)
		v.missing = [2]uint64{1, l.seq}
	}
	switch {
	case v.left.any():
		v.afterLeft(&l, &mark, at)
	case !l.follows(v.last):
		v.broken(&l, at)
	}
	v.count(&l, &mark)
}

// markOf reads what a line says that is no decision; there are few.
func markOf(l *link, line []byte) (m timedMark) {
	if l.kind == KindDecision {
		return m
	}
	var read timedMark
	_ = json.Unmarshal(line, &read) // its hash is right: what it lacks it never had
	return read
}

// afterLeft is a good line after what is none: fine if it says so.
func (v *verifier) afterLeft(l *link, m *timedMark, at Fault) {
	v.leftAt.Seq = at.Seq
	switch {
	case !l.follows(v.last):
		v.fault(FaultChanged, v.leftAt, "the line is not as it was written")
	case l.kind != KindTorn:
		v.fault(FaultInserted, v.leftAt, "what is there is no line, and none is missing")
	case m.Bytes != v.left.bytes || m.SHA256 != v.left.sum():
		v.fault(FaultChanged, v.leftAt, "what a crash left there is not as it was found")
	default:
		v.report.Torn++
	}
	v.left = torn{}
}

// broken is a line that is as it was written, in the wrong place.
func (v *verifier) broken(l *link, at Fault) {
	switch next := v.last.seq + 1; {
	case l.seq >= v.missing[0] && l.seq < v.missing[1]:
		removed := v.report.Fault
		if v.missing[0] == 1 {
			removed = v.opening
		}
		if removed.Kind == FaultRemoved {
			removed.Kind = FaultReordered
			removed.Detail = fmt.Sprintf("line %d stands before line %d", v.missing[1], l.seq)
		}
	case l.seq > next:
		if v.fault(FaultRemoved, at, fmt.Sprintf("%d lines are missing before line %d", l.seq-next, l.seq)) {
			v.missing = [2]uint64{next, l.seq}
		}
	case l.seq < next:
		v.fault(FaultInserted, at, fmt.Sprintf("there are two lines %d", l.seq))
	default:
		v.fault(FaultChanged, at, fmt.Sprintf("line %d does not follow the line before it: one of them was replaced", l.seq))
	}
}

// fault keeps the first fault, and reports whether this is it.
func (v *verifier) fault(kind FaultKind, at Fault, detail string) bool {
	if v.report.Fault != nil {
		return false
	}
	at.Kind, at.Detail = kind, detail
	v.report.Fault = &at
	return true
}

// count takes a line into the report.
func (v *verifier) count(l *link, m *timedMark) {
	v.last = l.position
	v.report.Lines++
	switch l.kind {
	case KindGenesis:
		if v.report.ID == "" {
			v.report.ID = m.ID
		}
	case KindDecision:
		v.report.Decisions++
	case KindGap:
		v.report.Lost += m.Lost
	case KindNotice:
		v.report.Notices++
	case KindDropped:
		v.vouch(m)
	case KindSegment, KindTorn:
	}
	if v.known != "" && v.known == fmt.Sprintf("%x", l.hash) {
		v.found = true
	}
	if v.headPlace.seq == l.seq && v.headPlace.hash != l.hash {
		v.fault(FaultChanged, Fault{File: headName, Line: 1, Seq: l.seq}, fmt.Sprintf("the head knows another line %d", l.seq))
	}
}

// end looks at how the log ends.
func (v *verifier) end() {
	v.report.Seq, v.report.Hash = v.last.seq, fmt.Sprintf("%x", v.last.hash)
	v.report.From = v.from
	if lacks := v.unvouched(); lacks != nil {
		v.report.Fault, v.report.From = lacks, nil // it comes before all others
	}
	head := v.headPlace.position
	switch {
	case v.left.any() && v.left.newline:
		// A crash cannot write the end of a line without its middle.
		v.leftAt.Seq = v.last.seq + 1
		v.fault(FaultChanged, v.leftAt, "the line is not as it was written")
	case v.report.Head == HeadMatches && head.seq > v.last.seq:
		v.fault(FaultTruncated, Fault{}, fmt.Sprintf("the log ends with line %d; the head says that line %d was written", v.last.seq, head.seq))
	case v.left.any():
		v.report.Torn++
	}
	if v.known == "" || v.found || v.from != nil && v.from.Hash == v.known {
		return
	}
	detail := "no line has the hash " + v.known
	if v.from != nil {
		detail += fmt.Sprintf("; lines up to %d were dropped", v.from.Seq)
	}
	v.fault(FaultUnknown, Fault{}, detail)
}
