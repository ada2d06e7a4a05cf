package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// Rename keeps what is at to, and notes that what is at from may be at to from now on.
func (w *Watch) Rename(from, to string, exchange bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || from == to {
		return
	}
	what, other, err := w.both(from, to)
	if err != nil {
		return
	}
	defer what.close()
	defer other.close()
	switch {
	case what.file == nil, exchange && other.file == nil, !exchange && other.file != nil && !what.replaces(other):
		return // the call fails
	case exchange: // note both first: moveOne assumes that nothing was at a path without a note
		w.below(from, what, w.remember)
		w.below(to, other, w.remember)
		w.move(to, from, other)
	default:
		w.touch(to, other, false)
	}
	w.move(from, to, what)
}

// Link notes that what is at from may be at to as well.
func (w *Watch) Link(from, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	what, other, err := w.both(from, to)
	if err != nil {
		return
	}
	defer what.close()
	defer other.close()
	if other.file != nil {
		return // the call fails
	}
	w.touch(to, other, true)
	if what.file != nil && what.info.Mode().IsRegular() {
		w.moveOne(from, to, what) // the file can be written to by the other name, too
	}
}

// both opens what is at two paths. An error is noted as a gap.
func (w *Watch) both(from, to string) (what, other spot, err error) {
	if what, err = w.at(from); err != nil {
		w.unseen(from, err)
		return spot{}, spot{}, err
	}
	if other, err = w.at(to); err != nil {
		w.unseen(to, err)
		what.close()
	}
	return what, other, err
}

// replaces reports whether a rename of s over other can succeed.
func (s spot) replaces(other spot) bool {
	switch {
	case s.info.IsDir() != other.info.IsDir():
		return false
	case !other.info.IsDir():
		return true
	}
	d, err := other.open()
	if err != nil {
		return true // assume so
	}
	defer d.Close()
	names, _ := d.Readdirnames(1)
	return len(names) == 0
}

// move notes that what is at one path, with all that is below it, is about to be at another path.
func (w *Watch) move(from, to string, s spot) {
	w.below(from, s, func(path string, s spot) { w.moveOne(path, to+strings.TrimPrefix(path, from), s) })
}

// below calls do for what is at a path, and for everything below it that is not left out.
func (w *Watch) below(path string, s spot, do func(path string, s spot)) {
	do(path, s)
	if !s.info.IsDir() || w.leaves(path+string(filepath.Separator)) {
		return
	}
	d, err := s.open()
	if err != nil {
		w.unseen(path, err)
		return
	}
	defer d.Close()
	for {
		const some = 1024
		names, err := d.Readdirnames(some)
		for _, name := range names {
			if len(w.touched) >= maxTouched {
				w.gaps.add(fmt.Sprintf("it changed more than %d files", maxTouched), path)
				return
			}
			w.inside(filepath.Join(path, name), do)
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			w.unseen(path, err)
			return
		}
	}
}

// inside calls below for an entry of a directory.
func (w *Watch) inside(path string, do func(path string, s spot)) {
	s, err := w.at(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		w.gaps.add("the command has no access to it", path)
	case err != nil:
		w.unseen(path, err)
	case s.file != nil:
		defer s.close()
		w.below(path, s, do)
	}
}

// remember notes what is at a path, without keeping its content.
func (w *Watch) remember(path string, s spot) {
	if w.touched[path] != nil || w.leaves(path) {
		return
	}
	if t := w.begin(path, s); t != nil {
		if !t.saved() {
			w.place(t, path)
		}
		w.note(t)
	}
}

// moveOne notes what is at a path, and that it may be at another path from now on.
func (w *Watch) moveOne(from, to string, s spot) {
	w.remember(from, s)
	if t := w.unsaved[from]; t != nil && (w.unsaved[to] == nil || !slices.Contains(t.places, to)) {
		w.alsoAt(t, to)
	}
	if w.touched[to] == nil && !w.leaves(to) {
		if t := w.begin(to, spot{}); t != nil {
			w.note(t)
		}
	}
}

// alsoAt notes one more path where a content may be.
func (w *Watch) alsoAt(t *touched, place string) {
	if w.places >= maxPlaces {
		w.gaps.add("it was moved too many times", t.path)
		return
	}
	if other := w.unsaved[place]; other != nil && other != t {
		if s, err := w.at(place); err == nil { // two contents may be there: the other one is kept now
			w.save(place, s)
			s.close()
			w.note(other)
		}
	}
	w.place(t, place)
	w.write(t, &entry{Path: changes.Name(t.path), Place: changes.Name(place)})
}

// place remembers a path where a content may be.
func (w *Watch) place(t *touched, path string) {
	w.unsaved[path] = t
	t.places = append(t.places, path)
	w.places++
}
