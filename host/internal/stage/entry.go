package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// Entry is one staged change.
type Entry struct {
	Path string `json:"path"`
	// Content is what is staged; nil if the path is removed. Base is what was on the disk when
	// the path was first changed; nil if nothing was. If a command made the change, Base has a
	// hash only for a file with several hard links.
	Content *Content `json:"content,omitempty"`
	Base    *Content `json:"base,omitempty"`
	// From is the former path of a new file, if a file with the same content was removed.
	From string `json:"from,omitempty"`
	// Calls are the IDs of the calls that wrote it, in order. Tool and Time are those of the last
	// one.
	Calls []string  `json:"calls,omitempty"`
	Tool  string    `json:"tool,omitempty"`
	Time  time.Time `json:"time"`

	// place is where the staged entry is stored; empty if the path is removed. version identifies
	// its content.
	place, version string
	// now is what is on the disk. The hash of a file is known only if it may be equal to Content.
	now   *Content
	stamp string
	// whole is the removed or replaced directory that contains this change; empty for none. The
	// directory itself, if it is removed, has its own path.
	whole string
	// implied means that this is a new directory that contains other changes, or is aside: it is
	// not listed.
	implied bool
	// aside means that an apply that was killed was removing this file, under a temporary name.
	aside bool
	// same means that the disk already is as staged.
	same bool
	note *note
	// names is the number of hard links of the staged file.
	names uint64
	// fault is why the staged entry cannot be read, for example because of its mode.
	fault error
}

// Selection selects staged changes by their paths, or by directories that contain them. The paths
// are absolute and clean. Without paths it selects all changes.
type Selection struct{ Paths []string }

func (s Selection) has(path string) bool {
	return len(s.Paths) == 0 || slices.ContainsFunc(s.Paths, func(p string) bool { return path == p || changes.Below(path, p) })
}

// leadsTo reports whether a directory is selected, or contains a selected path.
func (s Selection) leadsTo(dir string) bool {
	return s.has(dir) || slices.ContainsFunc(s.Paths, func(p string) bool { return changes.Below(p, dir) })
}

// after returns the node that applying puts at the path. If the stage did not change the mode, it
// keeps the mode on the disk.
func (e *Entry) after() *Content {
	base := e.note.base
	if !e.Content.Is(changes.File) || !e.now.Is(changes.File) || !base.Is(changes.File) || base.Mode != e.Content.Mode {
		return e.Content
	}
	kept := *e.Content
	kept.Mode = 0
	return &kept
}

// change returns the change that applying makes on the disk.
func (e *Entry) change() changes.Change {
	return changes.Change{Path: e.Path, Before: e.now, After: e.after()}
}

// unchanged returns why the change cannot be applied, or nil. The disk must be as it was when the
// path was first changed, or as staged, or as an interrupted apply left it.
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

// holds reports whether the key of what is on the disk is one of keys. It hashes a file whose
// hash is not known yet.
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
