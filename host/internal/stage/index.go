package stage

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

const lockName = "lock"

// ErrDamaged means that the stage's log is damaged, so that it is not known what is staged.
var ErrDamaged = errors.New("the log of what is staged is damaged")

// note is what the log says of a path.
type note struct {
	// base is what was on the disk when the path was first changed; nil means nothing. With an
	// empty stamp, base is compared by its content. changed means that the disk changed while the
	// command ran.
	base    *Content
	stamp   string
	changed bool
	began   time.Time // when the command that changed the path began; zero if none did
	// tool means that a tool wrote it: then it counts as staged even if the disk has the same
	// content.
	tool bool
	// applying has the keys of what an apply, which may have been killed, was about to write to
	// the disk.
	applying []string

	calls []string
	by    string
	time  time.Time
}

// index is a log and what its lines say.
type index struct {
	changes.Log
	known
	// vanished means that the log existed, and is gone.
	vanished bool
}

// known is what the lines of a log say.
type known struct {
	notes  map[string]*note
	layers []string // directories that can be mounted, in the order of their lines
	// last is the time of the last line.
	last time.Time
	// lines is the number of lines that were read, and damaged the number of the first one that
	// is invalid; 0 for none.
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

// refresh reads the lines that were added to the log.
func (x *index) refresh() error {
	was := x.Exists()
	if err := x.Refresh(); err != nil {
		return fmt.Errorf("reading what is staged: %w", err)
	}
	x.vanished = (x.vanished || was) && !x.Exists()
	return x.fault()
}

// fault returns an error if the log is damaged or gone.
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

// note records what a line says about its path. The base of the first line stays.
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

// add appends lines to the log durably, all of them or none. The lock is held, and the log was
// read.
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
