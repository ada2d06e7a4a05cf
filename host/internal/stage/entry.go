package stage

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Entry is one file that is staged.
type Entry struct {
	Path string `json:"path"`
	// Content is what is staged, and Base what the file on the disk was when it was
	// first staged; nil is no file.
	Content Content  `json:"content"`
	Base    *Content `json:"base,omitempty"`
	// Calls are the ids of the calls that wrote it, in order, and Tool and Time are of
	// the last.
	Calls []string  `json:"calls,omitempty"`
	Tool  string    `json:"tool,omitempty"`
	Time  time.Time `json:"time"`

	name string
	// past are the hashes of what was staged before this. The file has one of them
	// where an applying was killed before it could note that it had written the file.
	past []string
}

// Selection names files of a stage: each path is one of a file, or of a directory above
// some, absolute and clean. Without any it is all of them.
type Selection struct{ Paths []string }

func (s Selection) has(path string) bool {
	return len(s.Paths) == 0 || slices.ContainsFunc(s.Paths, func(p string) bool { return path == p || below(path, p) })
}

func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && rest != "" && (strings.HasSuffix(dir, string(filepath.Separator)) || rest[0] == filepath.Separator)
}
