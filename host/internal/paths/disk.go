package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Disk resolves paths, for code that works with paths and not with descriptors. With a View it
// resolves them as commands whose changes are staged do. The zero value resolves them as this
// process sees files.
type Disk struct{ View }

// Place returns the path under which this process finds the file at path. Links are followed, in
// the last component too.
func (d Disk) Place(path string) string {
	if d.View == nil {
		return filepath.FromSlash(path)
	}
	return d.At(d.Real(path))
}

// Entry is like Place, but does not follow a link in the last component.
func (d Disk) Entry(path string) string {
	if d.View == nil {
		return filepath.FromSlash(path)
	}
	dir := d.Real(filepath.Dir(path))
	if dir == "" {
		return ""
	}
	return d.At(filepath.Join(dir, filepath.Base(path)))
}

// Resolved is Entry for a path whose links are resolved except in the last component.
func (d Disk) Resolved(path string) string {
	if d.View == nil {
		return path
	}
	return d.At(path)
}

// OfCommand resolves a path that a command names. In the kernel's directories it follows the
// links of /dev and /sys, but none in /proc. It returns "" if the path cannot be resolved: then
// a person is asked, whatever the rules say.
func (d Disk) OfCommand(name string) string {
	if !InKernelDir(name) {
		return d.Real(name)
	}
	return kernelPath(name, maxLinks)
}

// maxLinks bounds the symbolic links that are followed in one path.
const maxLinks = 40

// Real is the function [Real], by the View if there is one. It returns "" if the path cannot be
// resolved.
func (d Disk) Real(path string) string {
	if d.View == nil {
		return Real(path)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		if InKernelDir(next) {
			return kernelPath(filepath.Join(next, filepath.Join(rest...)), maxLinks)
		}
		info, err := os.Lstat(d.At(next))
		switch {
		case err != nil && !errors.Is(NotDirectory(err), fs.ErrNotExist):
			return ""
		case err != nil || info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		to, err := os.Readlink(d.At(next))
		if links++; err != nil || links > maxLinks {
			return ""
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at
}
