package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/changes"
)

// Scan finds the paths that a command created, changed or removed, and logs what the disk has
// there, so that applying can detect later changes by something else. Began is when the command
// began. If the disk changed at such a path while the command ran, that is logged too, because it
// is not known which of the two states the command saw.
//
// If the command changed nothing, Scan only lists the tree.
func (s *Store) Scan(ctx context.Context, began time.Time, call capability.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return err
	}
	missing, err := s.unnoted(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	return s.locked(ctx, func() error {
		if err := s.index.refresh(); err != nil {
			return err
		}
		var lines []line
		for _, path := range missing {
			if s.index.notes[path] != nil {
				continue // another process has logged it
			}
			l, err := s.lasting(ctx, path, began)
			if err != nil {
				return err
			}
			l.Call, l.Tool = call.ID, call.Tool
			lines = append(lines, l)
		}
		return s.index.add(lines...)
	})
}

// unnoted returns the paths of the tree that have no note.
func (s *Store) unnoted(ctx context.Context) ([]string, error) {
	tops, err := s.tree.top()
	if err != nil {
		return nil, err
	}
	var out []string
	var walk func(dir string) error
	walk = func(dir string) error {
		list, err := s.tree.children(dir)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // an unreadable directory cannot be applied
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i := range list {
			if s.index.notes[list[i].Path] == nil {
				out = append(out, list[i].Path)
			}
			if list[i].Kind != abi.KindDirectory {
				continue
			}
			if err := walk(list[i].Path); err != nil {
				return err
			}
		}
		return nil
	}
	for _, top := range tops {
		if err := walk(top); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lasting returns the line of base for the log. For a file with several hard links it adds the
// hash, because a change through one of them changes the times of all.
func (s *Store) lasting(ctx context.Context, path string, since time.Time) (line, error) {
	l, err := s.base(path, since)
	if err != nil || l.Changed || l.links < 2 || !l.Base.Is(changes.File) {
		return l, err
	}
	found, err := changes.Look(ctx, path)
	if err != nil {
		return l, nil //nolint:nilerr // the stamp is enough
	}
	if stampOf(found.Info) == l.Stamp {
		l.Base = found.Node
	}
	return l, found.Close()
}

// base returns a line with what is at a path on the disk. Since is when the command that changed
// the path began: if the disk changed after that, the line says so.
func (s *Store) base(path string, since time.Time) (line, error) {
	l := line{Kind: kindBase, Path: changes.Name(path), Began: since}
	info, target, err := workspace.Lstat(path)
	if err != nil {
		if code := abi.CodeOf(err); code == abi.CodeChanged || code == abi.CodeNotDirectory || code == abi.CodeNotFound {
			err = nil // its directory does not exist
		}
		return l, err
	}
	if info.Kind == "" {
		return l, nil
	}
	l.Base, l.Stamp, l.links = nodeOf(info, target), stampOf(info), info.Links
	l.Changed = !info.ChangeTime.IsZero() && !info.ChangeTime.Before(since) && info.Kind != abi.KindDirectory
	return l, nil
}

// stampOf identifies the state of a file on the disk by its metadata.
func stampOf(info workspace.Info) string {
	s := info.Stamp()
	return fmt.Sprintf("%s-%d-%d-%d-%d-%d", info.Kind, s.Device, s.Inode, s.Size, s.ModTime.UnixNano(), s.ChangeTime.UnixNano())
}

// unrenamed returns the part of a stamp that a rename does not change.
func unrenamed(stamp string) string { return stamp[:max(0, strings.LastIndexByte(stamp, '-'))] }

// nodeOf returns the node of what is on the disk, without a file's hash.
func nodeOf(info workspace.Info, target string) *Content {
	n := &Content{Mode: info.Mode & permission}
	switch info.Kind {
	case abi.KindFile:
		n.Size = info.Size
	case abi.KindDirectory:
		n.Kind = changes.Dir
	case abi.KindSymlink:
		n = &Content{Kind: changes.Link, Target: changes.Name(target)}
	default:
		n = &Content{Kind: changes.Other, What: info.What()}
	}
	return n
}
