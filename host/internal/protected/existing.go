package protected

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
)

// Existing are the protected paths that exist at a moment. For a link it has where the link
// leads and whether its target exists: a mount can hold the target, and not the link.
type Existing map[string]string

// onlyReported marks paths that git has to write in: they are reported, not held by mounts.
const onlyReported = "only reported"

// Existing examines what the walk found to be protected by name. It leaves out names
// directly in one of tops that the sandbox holds whether or not they exist.
func (f *Found) Existing(rules *permissions.SandboxPolicy, files *paths.Lookups, tops []string) Existing {
	all := make(Existing)
	for _, path := range slices.Concat(f.names, f.links) {
		if !slices.Contains(tops, filepath.Dir(path)) || !rules.Placed(path) {
			all.add(files, path)
		}
	}
	for _, r := range f.repositories {
		mark := filepath.Join(r.path, gitName)
		if r.bare {
			mark = filepath.Join(r.path, "HEAD")
		}
		all.add(files, mark)
		_, closed := files.Names(mark) // by a command, to open it again later
		if _, there := all[mark]; there && (r.bare || closed == nil) {
			all[mark] = onlyReported
		}
		for _, path := range rules.Repository(r.path, r.bare, files.Names) {
			all.add(files, path)
		}
	}
	return all
}

// add notes a path that exists. Where it cannot be examined or is too long for a mount, its
// directory stands for it.
func (e Existing) add(files *paths.Lookups, path string) {
	for len(path) > longestPath+256 {
		path = filepath.Dir(path)
	}
	info, err := os.Lstat(files.At(path))
	if errors.Is(err, fs.ErrPermission) && filepath.Dir(path) != path {
		e.add(files, filepath.Dir(path)) // a command may make it accessible again
		return
	}
	if err != nil {
		return
	}
	e[path] = ""
	if info.Mode()&os.ModeSymlink != 0 {
		at := files.Locate(path)
		e[path] = fmt.Sprint(at.Err == nil, " ", at.Path)
	}
}

// Paths returns the paths that mounts can hold, for links their targets.
func (e Existing) Paths(rules *permissions.SandboxPolicy, files *paths.Lookups) []string {
	var out []string
	for path, link := range e {
		at := files.Locate(path)
		if link == onlyReported || at.Err != nil || link == "" && at.Path != path {
			continue // it is gone by now
		}
		if _, err := os.Lstat(files.At(at.Path)); err == nil {
			out = append(out, at.Path)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(path string) bool { return !rules.Inside(path) })
}

// Since returns what exists now and did not before, or was a link to elsewhere, without
// what lies in something else that is new.
func (e Existing) Since(before Existing) []string {
	made := make([]string, 0)
	for path, link := range e {
		if was, there := before[path]; !there || was != link {
			made = append(made, path)
		}
	}
	slices.Sort(made)
	return outermost(made)
}
