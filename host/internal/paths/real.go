package paths

import (
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
