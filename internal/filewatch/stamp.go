package filewatch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// stamps are what the files that are watched were when last looked at: enough to
// tell a change without reading them.
type stamps map[string]fs.FileInfo

// look takes the stamps of paths. Of a directory of drop-ins each file counts too.
func look(paths []string) stamps {
	s := make(stamps, len(paths))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			s[path] = nil
			continue
		}
		s[path] = info
		if !info.IsDir() {
			continue
		}
		entries, _ := os.ReadDir(path) // what cannot be listed has no entries to compare
		for _, entry := range entries {
			name := filepath.Join(path, entry.Name())
			if at, err := os.Stat(name); err == nil {
				s[name] = at
			}
		}
	}
	return s
}

// same reports whether nothing changed between two looks.
func (s stamps) same(t stamps) bool {
	if len(s) != len(t) {
		return false
	}
	for path, a := range s {
		b, ok := t[path]
		if !ok || !sameStamp(a, b) {
			return false
		}
	}
	return true
}

func sameStamp(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
