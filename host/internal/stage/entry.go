package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// Entry is one change that is staged.
type Entry struct {
	Path string `json:"path"`
	// Content is what is staged, nil being that nothing lies there any more; and Base what
	// lay on the disk when it was first changed, nil being nothing. What a command changed
	// has no hash in its base.
	Content *Content `json:"content,omitempty"`
	Base    *Content `json:"base,omitempty"`
	// From is where a new file was before, if one was removed that held the same.
	From string `json:"from,omitempty"`
	// Calls are the ids of the calls that wrote it, in order, and Tool and Time are of
	// the last.
	Calls []string  `json:"calls,omitempty"`
	Tool  string    `json:"tool,omitempty"`
	Time  time.Time `json:"time"`

	// place is where what is staged lies; empty of what is removed. Version tells its
	// content from others.
	place, version string
	// now is what lies on the disk; a file's hash is known where it may be equal.
	now   *Content
	stamp string
	// whole is the directory that was removed or replaced, and this change with it; empty
	// for none.
	whole string
	// implied is a new directory that something is staged in: it needs no words.
	implied bool
	// same says that the disk holds this already.
	same bool
	note *note
	// names is how many names the staged file has.
	names uint64
	// fault is that it cannot be read, by its modes, what is staged.
	fault error
}

// Selection names changes of a stage: each path is that of one, or of a directory above
// some, absolute and clean. Without any it is all of them.
type Selection struct{ Paths []string }

func (s Selection) has(path string) bool {
	return len(s.Paths) == 0 || slices.ContainsFunc(s.Paths, func(p string) bool { return path == p || changes.Below(path, p) })
}

// leadsTo reports whether a directory is above something that may be chosen, or chosen.
func (s Selection) leadsTo(dir string) bool {
	return s.has(dir) || slices.ContainsFunc(s.Paths, func(p string) bool { return changes.Below(p, dir) })
}

// after is what the path is to become on the disk as it now is. A mode that was not
// changed by what is staged stays that of the disk.
func (e *Entry) after() *Content {
	base := e.note.base
	if !e.Content.Is(changes.File) || !e.now.Is(changes.File) || !base.Is(changes.File) || base.Mode != e.Content.Mode {
		return e.Content
	}
	kept := *e.Content
	kept.Mode = 0
	return &kept
}

// change is the change as it would be done to the disk as it now is.
func (e *Entry) change() changes.Change {
	return changes.Change{Path: e.Path, Before: e.now, After: e.after()}
}

// unchanged tells how what lies on the disk is not what was changed, or is nil. What is
// just what is staged is as good, and so is what an applying made of it that did not come
// to its end.
func (e *Entry) unchanged(ctx context.Context) error {
	n := e.note
	switch {
	case e.fault != nil:
		return fmt.Errorf("its staged content cannot be read: %w; make it readable (chmod u+rwX, by a command of the session), or discard it", e.fault)
	case e.Content.Is(changes.Other):
		return fmt.Errorf("it is %s, which cannot be applied; discard it", e.Content)
	case e.now.Same(e.Content):
		return nil
	case e.now.Is(changes.Other):
		return fmt.Errorf("it is %s on the disk, which is never replaced", e.now)
	case len(n.applying) > 0 && e.holds(ctx, n.applying):
		return nil
	case e.now == nil:
		if err := writable(e); err != nil || n.base == nil {
			return err
		}
		return errors.New("it was removed since it was staged")
	case n.base == nil:
		return errors.New("it was created by something else since it was staged")
	case n.changed:
		return errors.New("it was changed by something else while a command changed it too")
	case e.now.Is(changes.Dir) && n.base.Is(changes.Dir):
		return nil
	case n.stamp != "":
		if n.stamp == e.stamp || n.base.Is(changes.Link) && e.now.Same(n.base) ||
			n.base.Is(changes.File) && n.base.Hash != "" && e.holds(ctx, []string{n.base.Key()}) {
			return nil
		}
	case e.holds(ctx, []string{n.base.Key()}):
		if e.now.Mode != n.base.Mode && e.now.Mode&0o222 == 0 {
			return errors.New("it was made read-only since it was staged")
		}
		return nil
	}
	return errors.New("it was changed by something else since it was staged")
}

// holds reports whether what lies on the disk is one of some.
func (e *Entry) holds(ctx context.Context, keys []string) bool {
	if e.now.Is(changes.File) && e.now.Hash == "" {
		found, err := changes.Look(ctx, e.Path)
		if err != nil {
			return false
		}
		if found.Node.Is(changes.File) && stampOf(found.Info) == e.stamp {
			e.now.Hash = found.Node.Hash
		}
		_ = found.Close() // it was only read
	}
	return slices.Contains(keys, e.now.Key())
}
