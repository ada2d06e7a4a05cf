package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// Real resolves the links in a path, as far as the path exists. It returns "" where the
// path cannot be resolved.
func Real(path string) string {
	node, err := workspace.Resolve("/", path)
	if err != nil {
		return ""
	}
	defer node.Close()
	return node.Real
}

// Below reports whether a clean path is a directory or lies in it.
func Below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(dir, "/"))
}

// Resolver resolves many paths that have most of their directories in common: it looks
// each directory up once, so its answers describe one moment.
type Resolver map[string]Location

// Location is where a path really lies, as far as it exists. Err says why the path cannot
// be reached; nil means that it can.
type Location struct {
	Path string
	Err  error
}

// Locate resolves a clean, absolute path.
func (r Resolver) Locate(path string) Location {
	if at, known := r[path]; known {
		return at
	}
	at := Location{Path: path}
	if parent := filepath.Dir(path); parent != path {
		at = r.Locate(parent)
		at.Path = filepath.Join(at.Path, filepath.Base(path))
		if at.Err == nil {
			at = locate(at.Path)
		}
	}
	r[path] = at
	return at
}

// locate resolves a path whose directory is resolved already.
func locate(path string) Location {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return Location{path, err}
	}
	_, err = os.Stat(path)
	if target := Real(path); target != "" {
		path = target
	}
	return Location{path, err}
}

// Follow is [Resolver.Locate] for [permissions.SandboxPolicy.Following].
func (r Resolver) Follow(path string) string { return r.Locate(path).Path }

// All resolves paths, whether or not they exist.
func (r Resolver) All(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = r.Follow(filepath.Clean(path))
	}
	return out
}

// Existing resolves paths, sorts them, and leaves out those that do not exist. A path that
// cannot be examined is kept under the name it was given by.
func (r Resolver) Existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		at := r.Locate(filepath.Clean(path))
		switch {
		case at.Err == nil:
			out = append(out, at.Path)
		case !errors.Is(at.Err, fs.ErrNotExist):
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
