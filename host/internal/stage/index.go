package stage

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

const lockName = "lock"

// ErrDamaged is that what is staged is not known, since the stage's log is damaged.
var ErrDamaged = errors.New("the log of what is staged is damaged")

// note is what is known of a path beside what lies in the tree.
type note struct {
	// base is what lay there when it was first changed, nil being nothing. Without a stamp
	// its content is what tells whether it is as it was.
	base    *Content
	stamp   string
	changed bool
	began   time.Time // the command that changed it; zero where none did
	// tool says that a tool wrote it: then it counts as staged even where it is equal to
	// what lies on the disk.
	tool bool
	// applying are the keys of what it was about to become on the disk, in an applying
	// that may have been killed.
	applying []string

	calls []string
	by    string
	time  time.Time
}

// index is what is known of a log that was read.
type index struct {
	changes.Log
	known
	// vanished is that there was a log, and is none any more.
	vanished bool
}

// known is what the lines of a log say.
type known struct {
	notes  map[string]*note
	layers []string // directories that can be mounted, in the order in which they were
	// last is the time of the last line.
	last time.Time
	// lines is how many were read, and damaged the number of the first that is not
	// what was written; 0 is none.
	lines, damaged int
	// former are the lines of what earlier versions staged, by path.
	former map[string][]line
	// generation counts how often something was applied or discarded.
	generation int
}

func nothingKnown() known {
	return known{notes: make(map[string]*note), former: make(map[string][]line)}
}

func newIndex(dir string) *index {
	x := &index{Log: changes.Log{Dir: dir, Max: maxLine}}
	x.Reset = func() { x.known = nothingKnown() }
	x.Take = func(text []byte, _ int64) { x.read(text) }
	x.Reset()
	return x
}

// refresh reads what came to the log since.
func (x *index) refresh() error {
	was := x.Exists()
	if err := x.Refresh(); err != nil {
		return fmt.Errorf("reading what is staged: %w", err)
	}
	x.vanished = (x.vanished || was) && !x.Exists()
	return x.fault()
}

// fault is that of a log that cannot be gone by.
func (x *index) fault() error {
	switch {
	case x.vanished:
		return fmt.Errorf("reading what is staged: %w: the log is gone; toolquay stage discard --all removes what is staged", ErrDamaged)
	case x.damaged != 0:
		return fmt.Errorf("%w: line %d; toolquay stage discard --all removes what is staged", ErrDamaged, x.damaged)
	}
	return nil
}

func (x *index) read(text []byte) {
	x.lines++
	l, ok := decode(text)
	if !ok {
		if x.damaged == 0 {
			x.damaged = x.lines
		}
		return
	}
	x.last = l.Time
	path := string(l.Path)
	switch l.Kind {
	case kindReset:
		was := x.known
		x.known = nothingKnown()
		x.lines, x.last, x.layers, x.generation = was.lines, was.last, was.layers, was.generation+1
	case kindForget:
		delete(x.notes, path)
		x.generation++
	case kindLayer:
		if !slices.Contains(x.layers, path) {
			x.layers = append(x.layers, path)
		}
	case kindApplying:
		if n := x.notes[path]; n != nil {
			n.applying = append(n.applying, l.Content.Key())
		} else {
			x.notes[path] = &note{base: l.Base, stamp: l.Stamp, applying: []string{l.Content.Key()}, time: l.Time}
		}
	case kindFormer, kindFormerApplied, kindFormerDiscarded:
		x.formerly(path, &l)
	case kindBase, kindStage:
		x.note(path, &l)
	}
}

// note takes what a line says of a path. What lay there first stays what it was.
func (x *index) note(path string, l *line) {
	n := x.notes[path]
	if n == nil {
		n = &note{base: l.Base, stamp: l.Stamp, changed: l.Changed, began: l.Began}
		x.notes[path] = n
	}
	n.tool = n.tool || l.Kind == kindStage
	n.by, n.time = l.Tool, l.Time
	if l.Call != "" {
		n.calls = append(n.calls, l.Call)
	}
}

// add adds lines to the log for good, all of them or none. The lock is held, and the log
// was read.
func (x *index) add(lines ...line) error {
	if len(lines) == 0 {
		return nil
	}
	var text []byte
	now := time.Now().UTC()
	for i := range lines {
		l := &lines[i]
		if l.Time.IsZero() {
			l.Time = now
		}
		one, err := l.encode()
		if err != nil {
			return err
		}
		text = append(text, one...)
	}
	return x.Append(text)
}
