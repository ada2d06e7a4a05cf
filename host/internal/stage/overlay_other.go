//go:build !linux

package stage

import (
	"io/fs"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// Other systems have no overlayfs: only tools change the tree, and they write only files.

func isWhiteout(string, fs.FileInfo) bool { return false }

func isOpaque(string) bool { return false }

func setOpaque(string) error { return nil }

func clearOpaque(string) error { return nil }

func identity(fs.FileInfo) string { return "" }

func names(fs.FileInfo) uint64 { return 1 }

func give(string, workspace.Info) {}

func isSparse(fs.FileInfo) bool { return false }

func keepAttributes(_, _ uintptr) []string { return nil }
