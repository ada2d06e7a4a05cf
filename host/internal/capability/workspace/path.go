package workspace

import (
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// The bounds of a path.
const (
	// maxPath is PATH_MAX of Linux, its end included.
	maxPath = 4096
	// maxLinks is how many links one path may lead over, as in Linux.
	maxLinks = 40
)

// named is a path as a request has it.
type named struct {
	raw    string // absolute, not cleaned: ".." is for the walk
	target string // absolute and lexically clean
	dir    bool   // it ends as only a directory's path may
}

func name(cwd, path string) (named, error) {
	switch {
	case path == "":
		return named{}, abi.Errorf(abi.CodeInvalidInput, "the path is empty")
	case strings.IndexByte(path, 0) >= 0:
		return named{}, abi.Errorf(abi.CodeInvalidInput, "the path %.100q holds a NUL byte", path)
	case len(path) >= maxPath:
		return named{}, abi.Errorf(abi.CodeInvalidInput, "the path of %d bytes is longer than %d", len(path), maxPath-1)
	}
	n := named{raw: path, dir: endsAsDir(path)}
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(cwd) {
			return named{}, abi.Errorf(abi.CodeInternal, "the working directory %q is not an absolute path", cwd)
		}
		n.raw = cwd + string(filepath.Separator) + path
	}
	n.target = filepath.Clean(n.raw)
	return n, refusePath(n.target, n.target)
}

func endsAsDir(path string) bool {
	if filepath.Separator == '\\' {
		path = filepath.ToSlash(path)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// kernelDirs hold devices and the kernel's own view of itself.
var kernelDirs = []string{"/dev", "/proc", "/sys"}

// refusePath refuses what lies in a directory of the kernel's, before anything
// in it is looked up.
func refusePath(target, path string) error {
	for _, dir := range kernelDirs {
		if rest, ok := strings.CutPrefix(path, dir); ok && (rest == "" || rest[0] == '/') {
			return refused(target, "it lies in "+dir)
		}
	}
	return nil
}

func refused(target, why string) *abi.Error {
	return abi.Errorf(abi.CodeNotRegular, "%s is refused: %s, where the system keeps devices and its own state", target, why)
}
