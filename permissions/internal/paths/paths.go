// Package paths compares paths by their text alone. Paths are absolute and clean, with
// forward slashes; the files they name are never looked at.
package paths

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsClean reports whether a path is absolute and lexically clean, as rules need it. On
// Windows a drive may come before the slash.
func IsClean(path string) bool {
	path = path[len(filepath.VolumeName(path)):]
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' || strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for rest := path[1:]; ; {
		i := strings.IndexByte(rest, '/')
		name := rest
		if i >= 0 {
			name = rest[:i]
		}
		if name == "" || name == "." || name == ".." {
			return false
		}
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
	}
}

// IsName reports whether a name is one component of a clean path.
func IsName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00"+string(filepath.Separator))
}

// Prefix returns a directory in the form that [Below] and [InsideAny] take: with forward
// slashes and without one at the end, so that the root is empty.
func Prefix(dir string) string { return strings.TrimSuffix(filepath.ToSlash(dir), "/") }

// Below returns the part of a path below a directory, empty for the directory itself, and
// whether the path lies there.
func Below(dir, path string) (rest string, ok bool) {
	if dir == "" {
		return strings.TrimPrefix(path, "/"), true
	}
	if len(path) < len(dir) || path[:len(dir)] != dir {
		return "", false
	}
	if len(path) == len(dir) {
		return "", true
	}
	if path[len(dir)] != '/' {
		return "", false
	}
	return path[len(dir)+1:], true
}

// InsideAny reports whether a path is one of the directories or lies below one.
func InsideAny(dirs []string, path string) bool {
	for _, dir := range dirs {
		if _, ok := Below(dir, path); ok {
			return true
		}
	}
	return false
}

// Cut splits the first component off a path without a leading slash.
func Cut(path string) (name, rest string) {
	name, rest, _ = strings.Cut(path, "/")
	return name, rest
}

// HasComponent reports whether a path has a component. The name starts with a slash.
func HasComponent(path, name string) bool {
	for {
		i := strings.Index(path, name)
		if i < 0 {
			return false
		}
		path = path[i+len(name):]
		if path == "" || path[0] == '/' {
			return true
		}
	}
}

// Parents returns the directories between a directory and a path in it, neither included.
func Parents(dir, name string) []string {
	var out []string
	for up := path.Dir(name); ; up = path.Dir(up) {
		if rest, inside := Below(dir, up); !inside || rest == "" || up == "/" {
			return out
		}
		out = append(out, up)
	}
}

// Outermost sorts directories and drops those that lie in another one.
func Outermost(dirs []string) []string {
	slices.Sort(dirs)
	var out []string
	for _, dir := range dirs {
		if !InsideAny(out, dir) && !slices.Contains(out, "/") {
			out = append(out, dir)
		}
	}
	return out
}

// Sorted sorts names in place and drops duplicates.
func Sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// From returns a path as seen from a directory.
func From(dir, name string) string {
	name = filepath.ToSlash(name)
	if !path.IsAbs(name) {
		name = dir + "/" + name
	}
	return path.Clean(name)
}

// Fold maps names that differ only in case to one key.
func Fold(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return strings.Map(foldRune, name)
		}
	}
	return name
}

func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}
