package stage_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// sees describes what a session's tools see at a path.
func (r *room) sees(name string) string {
	r.tb.Helper()
	o, err := workspace.Overlay(r.work, name, r.Store)
	if err != nil {
		return "refused: " + string(abi.CodeOf(err))
	}
	defer o.Close()
	if !o.Exists() {
		return string(abi.CodeOf(o.Err()))
	}
	if o.Info.Kind != abi.KindDirectory {
		f, info, err := o.Open()
		if err != nil {
			return string(abi.CodeOf(err))
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil || info.Kind != abi.KindFile {
			r.tb.Errorf("%s: %v, %v", name, info, err)
		}
		rel, _ := filepath.Rel(r.work, o.Real)
		return rel + "=" + string(text)
	}
	return strings.Join(r.lists(o), " ")
}

// lists returns the names in a directory, as a tool lists them.
func (r *room) lists(o *workspace.Overlaid) []string {
	r.tb.Helper()
	children, err := workspace.Children(r.Store, o.Real)
	if err != nil {
		r.tb.Fatal(err)
	}
	names := []string{"in"}
	for name, s := range children {
		if s.Removed() {
			continue
		}
		info, err := workspace.InfoOf(s)
		if err != nil || info.Kind != s.Kind {
			r.tb.Errorf("%s: %v, %v", name, info.Kind, err)
		}
		names = append(names, name)
	}
	dir, err := o.OpenDir()
	if err != nil {
		r.tb.Fatal(err)
	}
	if dir == nil {
		slices.Sort(names[1:])
		return names
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		r.tb.Fatal(err)
	}
	for _, e := range entries {
		if _, staged := children[e.Name()]; !staged {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names[1:])
	return names
}

// TestSeen checks that tools see what commands left: no removed files, only the new contents of
// replaced directories, and the new targets of links.
func TestSeen(t *testing.T) {
	t.Parallel()
	for _, attribute := range []bool{false, true} {
		r, u := layered(t)
		u.attribute = attribute
		u.must(mkdir(r.work, "whole"))
		u.must(write(r.work, "whole/w", "w", 0o644))
		u.must(os.Symlink("whole", r.path("way")))
		u.must(os.Symlink("d/x", r.path("to-x")))
		u.remove("a")
		u.opaque("d")
		u.write("d/z", "z", 0o644)
		u.mkdir("d/sub")
		u.mkdir("whole")
		u.write("whole/new", "new", 0o644)
		u.write("l", "l", 0o644) // in place of a link to a
		u.write("k", "k", 0o644)
		u.link("to-k", "k")
		u.link("to-whole", r.path("whole"))
		u.link("loop", "loop")
		u.link("nowhere", "a")
		u.remove("way")
		u.mkdir("n")
		for name, want := range map[string]string{
			"a": "not_found", "d": "in sub z", "d/x": "not_found", "d/z": "d/z=z", "d/sub": "in", "d/sub/y": "not_found", "to-x": "not_found",
			"whole": "in new w", "whole/w": "whole/w=w", "whole/new": "whole/new=new", "way": "not_found", "way/w": "not_found",
			"l": "l=l", "to-k": "k=k", "to-whole": "in new w", "to-whole/w": "whole/w=w", "to-whole/../k": "k=k", "to-whole/new/x": "not_directory",
			"loop": "io", "nowhere": "not_found", "n": "in", "n/x": "not_found", "k/x": "not_directory", "ro": "ro=ro",
			"missing/../ro": "not_found", "a/..": "not_found",
			".": "in d k l loop n nowhere ro to-k to-whole to-x whole",
		} {
			if got := r.sees(name); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
}
