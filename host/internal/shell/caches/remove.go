package caches

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/internal/tempdir"
)

// layerName is the length of the name of a layer, in hexadecimal digits.
const layerName = 24

// doomed begins the name of a layer that is being removed.
const doomed = "removed-"

// IsLayer reports whether a name is that of a layer below their root, or of one that is being
// removed.
func IsLayer(name string) bool {
	name = strings.TrimPrefix(name, doomed)
	return len(name) == layerName && strings.Trim(name, "0123456789abcdef") == ""
}

// Remove removes a layer by its name below their root. It gets another name first: a command
// that comes now makes a new one, and what a crash leaves is known for what it is.
func Remove(root, name string) error {
	path := filepath.Join(root, name)
	if !strings.HasPrefix(name, doomed) {
		old := path
		path = filepath.Join(root, doomed+name)
		if err := os.Rename(old, path); err != nil {
			return err
		}
	}
	return tempdir.RemoveAll(path)
}
