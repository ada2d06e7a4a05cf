//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kind is what lies at a place of the sandbox's. Where several are wanted at one
// place the later kind wins. From kindPin on they guard something.
type kind int

const (
	kindLink       kind = iota // a link, whose text is the source
	kindScratch                // a folder in memory
	kindEmpty                  // an empty folder, closed to changes
	kindReadOnly               // the source, to read
	kindWritable               // the source, to read and write
	kindPin                    // as kindWritable, so that the folder cannot be moved away
	kindProtected              // the source, to read
	kindCopied                 // a link to the source
	kindHiddenFile             // a file that cannot be opened
	kindHiddenDir              // a folder that cannot be listed
)

// entry is one mount. A source other than the target shows a file or folder at
// another place.
type entry struct {
	kind           kind
	target, source string
	// link is the name of the link to a copy.
	link string
	// was is what is hidden.
	was fs.FileInfo
	// passage is a folder in memory with something mounted below it.
	passage bool
}

func (e *entry) writable() bool { return e.kind == kindWritable || e.kind == kindPin }

// guards says that it keeps what lies at its place from being read or changed, or helps
// to, and hides that it keeps it from being read.
func (e *entry) guards() bool { return e.kind >= kindPin }
func (e *entry) hides() bool  { return e.kind >= kindHiddenFile }

// own says that what is below is the machine's, under its own path.
func (e *entry) own() bool { return e.source == e.target }

// fresh says that below is nothing but what is mounted there.
func (e *entry) fresh() bool {
	switch e.kind {
	case kindScratch, kindEmpty, kindHiddenDir:
		return true
	}
	return false
}

// inMemory says that it is a folder of the sandbox's, which stays empty but for what is
// mounted there.
func (e *entry) inMemory() bool {
	return e.kind == kindEmpty || e.kind == kindHiddenDir
}

// from is where a path below the entry comes from.
func (e *entry) from(path string) string { return e.source + strings.TrimPrefix(path, e.target) }

// settle orders what is wanted, drops what changes nothing, and pins the folders
// between a writable place and what is mounted in it: one that could be moved away
// would leave its mount behind, and another could be made in its place.
func (l *layout) settle() error {
	list := make([]*entry, 0, len(l.wanted))
	for _, e := range l.wanted {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(order(a.target), order(b.target)) })
	l.above = []*entry{{kind: kindReadOnly, target: "", source: ""}}
	for _, e := range list {
		for !within(e.target, l.around().target) {
			l.above = l.above[:len(l.above)-1]
		}
		if l.pointless(e) {
			continue
		}
		if err := l.place(e); err != nil {
			return err
		}
	}
	return nil
}

// order makes a folder come right before what is in it.
func order(path string) string { return strings.ReplaceAll(path, "/", "\x00") }

// around is the innermost entry around the place being looked at.
func (l *layout) around() *entry { return l.above[len(l.above)-1] }

// pointless says that an entry would change nothing where it is.
func (l *layout) pointless(e *entry) bool {
	around := l.around()
	switch e.kind {
	case kindLink:
		return !around.fresh() // there it is anyway
	case kindHiddenFile, kindHiddenDir:
		// A folder in memory, or one that shows another place, does not show it anyway. The
		// sandbox's own /proc lies in none.
		return (around.fresh() || !around.own()) && !within(e.target, "/proc")
	case kindProtected, kindPin:
		return !around.writable() || !around.own()
	case kindReadOnly:
		return e.own() && around.own() && (around.kind == kindReadOnly || around.kind == kindProtected)
	case kindWritable:
		return e.own() && around.own() && around.writable()
	}
	return false
}

// place adds an entry, after pins on the way to it.
func (l *layout) place(e *entry) error {
	around := l.around()
	around.passage = around.inMemory()
	switch {
	case around.fresh():
	case !around.own():
		if err := l.mountpoint(around, e); err != nil {
			return err
		}
	case !e.own():
		// Bubblewrap would make what is missing, in a folder of the machine's.
		if _, err := l.seen.lstat(e.target); err != nil {
			return fmt.Errorf("%w: nothing is put at %s: %w", ErrSpec, e.target, err)
		}
	}
	if around.writable() {
		for _, dir := range between(around.target, e.target) {
			pin := &entry{kind: kindPin, target: dir, source: around.from(dir)}
			l.entries = append(l.entries, pin)
			l.above = append(l.above, pin)
		}
	}
	l.entries = append(l.entries, e)
	l.above = append(l.above, e)
	return nil
}

// between are the folders strictly between two places, from the outside in.
func between(outer, inner string) []string {
	var dirs []string
	for at := filepath.Dir(inner); len(at) > len(outer); at = filepath.Dir(at) {
		dirs = append(dirs, at)
	}
	slices.Reverse(dirs)
	return dirs
}

// mountpoint makes what an entry is mounted on in a folder that shows another place's
// content, such as the temporary folder at /tmp. The command may have put links
// there: none is followed.
func (l *layout) mountpoint(around, e *entry) error {
	for _, dir := range between(around.target, e.target) {
		if err := l.seen.plainDir(around.from(dir)); err != nil {
			return err
		}
	}
	path := around.from(e.target)
	if info, err := l.seen.lstat(e.source); e.source == "" || err == nil && info.IsDir() {
		return l.seen.plainDir(path)
	}
	f, err := os.OpenFile(l.seen.over.at(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case err == nil:
		_ = f.Close() // it is empty
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if info, err := l.seen.made(path); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is in the way", ErrSpec, path)
	}
	return nil
}

// plainDir makes a folder where there is none.
func (o *observations) plainDir(path string) error {
	if err := os.Mkdir(o.over.at(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := o.made(path); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: %s is in the way", ErrSpec, path)
	}
	return nil
}
