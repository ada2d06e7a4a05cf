//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// guard looks after what is hidden and protected while a command runs.
type guard struct {
	wanted   []mounted
	overlays *overlays
	// table is where the kernel lists the sandbox's mounts, once they are made.
	table  *os.File
	closed atomic.Bool
	// checked is the same, to ask for changes since all mounts were found in place; nil where they
	// are still to be looked at.
	checked *os.File
	// mend mounts again what was lost at a place; nil cannot.
	mend func(ctx context.Context, target string) error

	missing *missing
	mu      sync.Mutex
	// replaced are the paths that somebody outside replaced, moved or removed, and that were open
	// for a moment or are since.
	replaced map[string]bool
	// seen are the hidden paths that were told of. The goroutine that watches has them.
	seen map[string]bool
}

// newGuard is the guard of a layout. Open says which folders in memory are not read-only.
func newGuard(l *layout, state string, all *live, open func(*entry) bool) *guard {
	g := &guard{missing: newMissing(quarantineIn(state), all, l.missing, l.seen.over), overlays: l.seen.over, replaced: make(map[string]bool), seen: make(map[string]bool)}
	g.wanted = l.mounted(open)
	return g
}

// mounted is what must be found in the sandbox. Open says which folders in memory are not
// read-only.
func (l *layout) mounted(open func(*entry) bool) []mounted {
	list := make([]mounted, 0, len(l.entries))
	for _, e := range l.entries {
		if e.kind == kindLink {
			continue // it is in a folder that nobody else has
		}
		open := e.writable() || e.kind == kindScratch || open(e)
		list = append(list, mounted{e.target, e.source, !open, e.guards(), e.hides(), e.was, e.kind == kindCopied})
	}
	return list
}

// close undoes what is left at missing names.
func (g *guard) close() error {
	g.closed.Store(true)
	err := g.missing.end()
	if g.table != nil {
		err = errors.Join(err, g.table.Close())
	}
	return err
}

// mounted is what must be found at a place.
type mounted struct {
	target string
	// source is a path of this machine; without one a file system in memory is wanted.
	source   string
	readOnly bool
	// guard says that it keeps something from being read or changed, and hides that from being
	// read.
	guard, hides bool
	// was is what is hidden.
	was fs.FileInfo
	// other says that anything may be mounted there: it is not compared with the source.
	other bool
}

// fault says what is another than was asked for; nothing, if all is as it should be.
func (g *guard) fault(inside, host *mounts) string {
	for _, want := range g.wanted {
		if fault := want.fault(inside, host); fault != "" {
			return want.target + " " + fault
		}
	}
	return ""
}

// fault says what is wrong with what is mounted at a place.
func (w mounted) fault(inside, host *mounts) string {
	is := inside.at(w.target)
	switch {
	case is.point != w.target:
		return "has nothing mounted on it"
	case w.other:
		return ""
	case w.source == "" && (is.kind != "tmpfs" || is.root != "/"):
		return "is not in memory"
	case w.source != "" && !is.shows(w.source, host):
		return "shows something else than " + w.source
	case w.readOnly && !is.has("ro"):
		return "is open to changes"
	case !is.has("nosuid") || !is.has("nodev"):
		return "is open to devices"
	}
	return ""
}
