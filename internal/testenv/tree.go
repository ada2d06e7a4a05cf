package testenv

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tree returns a directory and everything below it by relative path: the mode, and the content of
// a file or the target of a link. A content longer than 1 KiB is given by its size and hash.
func Tree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	tree := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		holds, err := held(path, info.Mode())
		tree[name] = info.Mode().String() + holds
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

func held(path string, mode fs.FileMode) (string, error) {
	switch mode.Type() {
	case 0:
		const most = 1024
		content, err := os.ReadFile(path)
		if len(content) > most {
			return fmt.Sprintf(" %d bytes, SHA-256 %x", len(content), sha256.Sum256(content)), err
		}
		return fmt.Sprintf(" %q", content), err
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		return " -> " + target, err
	default:
		return "", nil
	}
}

// TreeDiff returns the first 20 differences between two results of [Tree], one a line, and ""
// for equal trees.
func TreeDiff(want, got map[string]string) string {
	paths := make(map[string]bool)
	for _, tree := range []map[string]string{want, got} {
		for path := range tree {
			paths[path] = true
		}
	}
	var out []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if want[path] != got[path] {
			out = append(out, fmt.Sprintf("%q: want %.60s, got %.60s", path, want[path], got[path]))
		}
	}
	const most = 20
	return strings.Join(out[:min(len(out), most)], "\n")
}
