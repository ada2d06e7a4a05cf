package search

import (
	"path/filepath"
	"strings"
)

// relative returns a path below dir relative to it, with slashes, and whether it
// lies there.
func relative(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(path, dir)
	if ok && !strings.HasSuffix(dir, string(filepath.Separator)) {
		rest, ok = strings.CutPrefix(rest, string(filepath.Separator))
	}
	return filepath.ToSlash(rest), ok
}

// shown returns a path as answers have it: relative to cwd where it lies below.
func shown(cwd, path string) string {
	if rel, ok := relative(cwd, path); ok {
		return rel
	}
	return filepath.ToSlash(path)
}

// join adds a name to a directory's path. Unlike filepath.Join it trusts both.
func join(dir, name string) string {
	if strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// comparePaths orders paths as a walk in the order of names meets them: by
// component, so that what lies in "a" comes before "a-b".
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		switch {
		case x == y:
		case x == '/':
			return -1
		case y == '/':
			return 1
		case x < y:
			return -1
		default:
			return 1
		}
	}
	return len(a) - len(b)
}
