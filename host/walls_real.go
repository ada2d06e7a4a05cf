package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// realPaths tells where many paths really lie that have most of their directories in
// common: it looks at each name on the way once. What it knows is of one moment.
type realPaths map[string]lying

// lying is where a path lies, as far as it exists, and why it cannot be reached, or nil.
type lying struct {
	path string
	err  error
}

// of looks for a path that is clean and absolute.
func (r realPaths) of(path string) lying {
	if at, known := r[path]; known {
		return at
	}
	at := lying{path: path}
	if parent := filepath.Dir(path); parent != path {
		at = r.of(parent)
		at.path = filepath.Join(at.path, filepath.Base(path))
		if at.err == nil {
			at = look(at.path)
		}
	}
	r[path] = at
	return at
}

// look looks at a path whose directory is a real one.
func look(path string) lying {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return lying{path, err}
	}
	_, err = os.Stat(path)
	if target := realPath(path); target != "" {
		path = target
	}
	return lying{path, err}
}

// follow is [realPaths.of] for [permissions.Walls].
func (r realPaths) follow(path string) string { return r.of(path).path }

// all are paths as they really lie, there or not.
func (r realPaths) all(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = r.follow(filepath.Clean(path))
	}
	return out
}

// existing are paths as they really lie, those left out that there are not.
func (r realPaths) existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		at := r.of(filepath.Clean(path))
		switch {
		case at.err == nil:
			out = append(out, at.path)
		case !errors.Is(at.err, fs.ErrNotExist):
			out = append(out, path) // what cannot be looked at is hidden by its name
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
