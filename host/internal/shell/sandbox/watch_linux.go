//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch undoes what is made at missing names, and tells of hidden files that come in sight,
// until the context ends or g is closed. Every is as [Wrapped].LookEvery.
//
// What is mounted on a file goes with the file: when a program outside puts another one in its
// place, as editors do when they save, or moves or removes it, the kernel takes the mount from
// every sandbox, and what comes to lie at the name is in sight. No mount keeps that from
// happening. But the kernel tells of most of it at once, whoever waits on the table of mounts.
func (g *guard) watch(ctx context.Context, every time.Duration, lost func(Loss)) error {
	if g.table == nil {
		return nil // it was never released
	}
	undone := make(chan error, 1)
	go func() { undone <- g.missing.watch(lost) }()
	raw, err := g.table.SyscallConn()
	first := true
	for err == nil && ctx.Err() == nil && !g.closed.Load() {
		err = g.look(ctx, raw, first, every, lost)
		g.missing.look(lost)
		first = false
	}
	if g.closed.Load() {
		return <-undone
	}
	return err
}

// look waits until something changes in the table, or it is time for another look. The first one
// looks at nothing where nothing has changed.
func (g *guard) look(ctx context.Context, raw syscall.RawConn, first bool, every time.Duration, lost func(Loss)) error {
	if err := g.table.SetReadDeadline(time.Now().Add(every)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = g.table.SetReadDeadline(time.Now()) })()
	var fault error
	// The look is a part of the wait, so that nothing changes unnoticed between them.
	err := raw.Read(func(table uintptr) bool { //nolint:contextcheck // what was lost is mended whatever becomes of the call
		if first && g.checked != nil && !changed(g.checked) {
			first = false
			return false
		}
		seen, err := g.compare(int(table))
		if seen != "" {
			lost(Loss{Path: seen, Hidden: true})
		}
		fault = err
		return seen != "" || fault != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return errors.Join(fault, err)
}

// compare notes which guarded places are not as they were asked for, and returns a hidden one
// where something lies that can be read now.
func (g *guard) compare(table int) (seen string, err error) {
	host, err := g.overlays.hostMounts()
	if err != nil {
		return "", err
	}
	inside, err := mountsIn(table) // by descriptor: the wait is using the table's os.File
	if err != nil {
		return "", err
	}
	for _, want := range g.wanted {
		if !want.guard || want.fault(inside, host) == "" {
			continue
		}
		switch there, again := g.mended(want.target); {
		case again:
			g.note(want.target) // for a moment it was open
		case !there && g.mend != nil:
		case !want.hides:
			g.note(want.target)
		case !g.seen[want.target] && want.inSight(g.overlays):
			g.seen[want.target] = true
			return want.target, nil
		}
	}
	return "", nil
}

// note notes that somebody outside replaced what lies at a place.
func (g *guard) note(target string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.replaced[target] = true
}

// mended reports whether something lies at a place where a mount was lost, and whether that is
// mounted again. The kernel takes a mount off before it removes or replaces what it is on, so that
// there may be nothing to mount on yet.
func (g *guard) mended(target string) (there, again bool) {
	if g.mend == nil {
		return false, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), handing)
	defer cancel()
	for pause := 100 * time.Microsecond; ; pause *= 2 {
		// A command may have closed the way there to this process, and could open it again.
		if _, err := g.overlays.lstat(target); absent(err) {
			return false, false
		}
		err := g.mend(ctx, target)
		if !errors.Is(err, fs.ErrNotExist) || pause > time.Second {
			return true, err == nil
		}
		time.Sleep(pause)
	}
}

// inSight says whether something lies at a hidden place whose mask is gone. The kernel takes the
// mask off before it removes what is there, or replaces it.
func (w mounted) inSight(over *overlays) bool {
	const looks, pause = 100, 200 * time.Microsecond
	for range looks {
		now, err := over.lstat(w.target)
		if absent(err) {
			return false
		}
		if err != nil || w.was == nil || !os.SameFile(now, w.was) {
			return true
		}
		time.Sleep(pause)
	}
	return true
}

// changed is what was undone, and the protected paths that somebody outside replaced.
func (g *guard) changed() ([]Undone, []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	there := slices.DeleteFunc(slices.Sorted(maps.Keys(g.replaced)), func(path string) bool {
		_, err := g.overlays.lstat(path)
		return absent(err)
	})
	return g.missing.all(), there
}

// maxTable bounds a table of mounts. The kernel allows a hundred thousand.
const maxTable = 64 << 20

// descriptor is a file that somebody else waits on.
type descriptor int

// ReadAt reads as [io.ReaderAt] has it.
func (d descriptor) ReadAt(p []byte, offset int64) (int, error) {
	for {
		n, err := unix.Pread(int(d), p, offset)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil // the table is read a part at a time
	}
}
