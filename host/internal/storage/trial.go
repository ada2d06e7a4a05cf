package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/tempdir"
	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// MaxTrial is the maximum size of a trial's changes in bytes, and maxTrialFiles the maximum
	// number of its files.
	MaxTrial      = 512 << 20
	maxTrialFiles = 100_000
	// trialLook is how often the size is checked while the command runs.
	trialLook = 200 * time.Millisecond
)

// ErrTrialFull means that a command changed more than a trial allows. errDiskFull means that it
// may have done so in files that have no name any more.
var (
	ErrTrialFull = errors.New("it changed more than 512 MiB, or 100,000 files")
	errDiskFull  = errors.New("more than 2 GiB was written to the disk while it ran")
)

// Trial is the stage of one command that runs before a person is asked about it. Only applied
// changes last. The trial is in the session's scratch directory, so that nothing is left if the
// process is killed.
type Trial struct {
	*Staging
	dir, outputs, temp string
	kept               bool
	once               sync.Once
}

// NewTrial creates a trial, which the caller closes. The history records applied changes under
// the call.
func (s *Session) NewTrial(by capability.Call) (_ *Trial, err error) {
	t := &Trial{}
	if t.temp, err = s.Temp(); err != nil {
		return nil, err
	}
	if t.dir, err = s.scratch.dir("trial-" + rand.Text()); err != nil {
		return nil, err
	}
	outputs, err := s.Outputs()
	if err == nil {
		t.outputs, err = os.MkdirTemp(outputs, "contained-*")
	}
	place := filepath.Join(t.dir, stage.Dir)
	if err == nil {
		err = os.Mkdir(place, 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	o := stage.Options{By: by}
	if s.history != nil {
		o.History = s.history
	}
	t.Staging = &Staging{stage: stage.Open(place, o)}
	return t, nil
}

// Scrap returns an overlay for a directory whose changes are neither shown nor applied, such as
// caches.
func (t *Trial) Scrap(root string) (Layer, error) {
	l := Layer{Root: root, Upper: filepath.Join(t.dir, "scrap", "upper"), Work: filepath.Join(t.dir, "scrap", "work")}
	generation, err := t.stage.Generation()
	l.Generation = generation
	return l, errors.Join(err, os.MkdirAll(l.Upper, 0o700), os.MkdirAll(l.Work, 0o700))
}

// OutputDir is the directory of the command's output. Close removes it unless Keep was called.
func (t *Trial) OutputDir() string { return t.outputs }

// Keep keeps the command's output, which then belongs to the call.
func (t *Trial) Keep() { t.kept = true }

// Bound checks the trial's size until ctx ends, and calls full once it is too large.
func (t *Trial) Bound(ctx context.Context, full func(err error)) {
	free := freeAt(t.dir)
	tick := time.NewTicker(trialLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// Files that have no name any more only show in the free space of the disk.
		const room = 4 * MaxTrial
		err := t.Small(ctx)
		if err == nil && free-freeAt(t.dir) > room {
			err = errDiskFull
		}
		if errors.Is(err, ErrTrialFull) || errors.Is(err, errDiskFull) {
			full(err)
			return
		}
	}
}

// Small fails with [ErrTrialFull] if the command changed too much.
func (t *Trial) Small(ctx context.Context) error {
	var bytes, files int64
	err := filepath.WalkDir(t.dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile, or overlayfs made it unreadable
		}
		if info, err := e.Info(); err == nil {
			bytes += held(info)
		}
		if files++; bytes > MaxTrial || files > maxTrialFiles {
			return ErrTrialFull
		}
		return ctx.Err()
	})
	return err
}

// Modified is a path that a command changed.
type Modified struct {
	Path    string
	Removed bool
	// Odd describes what cannot be applied, such as "a socket"; empty otherwise.
	Odd string
}

// Changes returns what the command changed. The session's own /tmp gets empty directories as
// mount points for directories that are in this machine's /tmp. Changes discards them.
func (t *Trial) Changes(ctx context.Context) (out []Modified, err error) {
	for {
		list, err := t.stage.List(stage.Selection{})
		if err != nil {
			return nil, err
		}
		points := t.points(list)
		if len(points.Paths) == 0 {
			return modified(list), nil
		}
		if _, err := t.stage.Discard(ctx, points); err != nil { // a mount point contains at most other mount points
			return nil, err
		}
	}
}

func modified(list []stage.Entry) []Modified {
	out := make([]Modified, len(list))
	for i := range list {
		out[i] = Modified{Path: list[i].Path, Removed: list[i].Content == nil}
		if list[i].Content.Is(changes.Other) {
			out[i].Odd = list[i].Content.String()
		}
	}
	return out
}

// points selects the empty directories that served as mount points.
func (t *Trial) points(list []stage.Entry) (sel stage.Selection) {
	for i := range list {
		rest, in := strings.CutPrefix(list[i].Path, t.temp+"/")
		// A new directory is listed only if it is empty.
		if in && list[i].Base == nil && list[i].Content.Is(changes.Dir) && (isDir(filepath.Join("/tmp", rest)) || isDir(filepath.Join("/var/tmp", rest))) {
			sel.Paths = append(sel.Paths, list[i].Path)
		}
	}
	return sel
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Patch writes the changes as a patch for people, with names relative to a directory. It fails if
// there are no changes. Each change that a patch cannot show gets a line.
func (t *Trial) Patch(ctx context.Context, w io.Writer, dir string) error {
	notes, err := t.stage.Patch(ctx, w, stage.Selection{}, changes.PatchOptions{Dir: dir, Outside: true})
	for _, n := range notes {
		if n.Left && err == nil {
			_, err = fmt.Fprintf(w, "%s: %s\n", visible.Line(n.Path), visible.Line(n.Why))
		}
	}
	return err
}

// Apply makes the changes on the disk, and returns the paths that it changed, also if it fails
// midway. If something on the disk has changed since the command ran, Apply changes nothing, and the
// error has [abi.CodeChanged]. It has that code as well if something changes while Apply runs.
func (t *Trial) Apply(ctx context.Context) (changed []string, err error) {
	done, err := t.stage.Apply(ctx, stage.Selection{})
	for i := range done {
		if !done[i].Same {
			changed = append(changed, done[i].Path)
		}
	}
	if conflict, ok := errors.AsType[*stage.ConflictError](err); ok {
		return nil, abi.Errorf(abi.CodeChanged, "%w", conflict)
	}
	if errors.Is(err, stage.ErrNothing) { // the disk already has the same changes
		return nil, nil
	}
	return changed, err
}

// Close removes the trial. It may be called again.
func (t *Trial) Close() (err error) {
	t.once.Do(func() {
		err = errors.Join(t.close(), tempdir.RemoveAll(t.dir))
		if !t.kept && t.outputs != "" {
			err = errors.Join(err, os.RemoveAll(t.outputs))
		}
	})
	return err
}
