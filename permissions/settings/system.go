package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// readPolicy reads the files of the system's directory, the weightiest first: drop-ins
// outweigh settings.toml, and later names earlier ones.
func readPolicy(l *loader) {
	dir := l.o.SystemDir
	if dir == "" {
		return
	}
	main, more := filepath.Join(dir, "settings.toml"), filepath.Join(dir, "settings.d")
	l.out.Watched = append(l.out.Watched, main, more)
	if there, err := ownedDir(l, dir, true); err != nil || !there {
		l.fail(dir, err)
		l.saw(permissions.SourcePolicy, main, false)
		return
	}
	for _, path := range slices.Backward(dropIns(l, more)) {
		readPolicyFile(l, path)
	}
	readPolicyFile(l, main)
}

// dropIns lists the files of settings.d that count, in lexical order.
func dropIns(l *loader, dir string) []string {
	there, err := ownedDir(l, dir, false)
	if err != nil || !there {
		l.fail(dir, err)
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.fail(dir, unwrapPath(err))
		return nil
	}
	var paths []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if isDropIn(entry.Name()) {
			paths = append(paths, path)
			continue
		}
		l.warn(permissions.Source{Kind: permissions.SourcePolicy, File: path},
			"it is not read: drop-ins end in .toml and do not begin with a dot")
	}
	return paths
}

func isDropIn(name string) bool {
	return strings.HasSuffix(name, ".toml") && !strings.HasPrefix(name, ".")
}

// readPolicyFile reads one file of the policy, on the very handle whose owner was
// checked.
func readPolicyFile(l *loader, path string) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		l.saw(permissions.SourcePolicy, path, false)
		return
	}
	l.saw(permissions.SourcePolicy, path, true)
	if err != nil {
		l.fail(path, unwrapPath(err))
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		l.fail(path, errLink)
		return
	}
	content, opened, err := readOpened(path, info)
	if err == nil {
		err = checkOwner(l, path, opened)
	}
	if err != nil {
		l.fail(path, err)
		return
	}
	l.parsed(Parse(permissions.SourcePolicy, path, content))
}

var errLink = errors.New("it is a link; a policy must lie where it is looked for")

// ownedDir checks a directory of the policy and, if above is set, all that it lies
// in: who can write to one of them can put another policy there. It reports
// whether the directory is there.
func ownedDir(l *loader, dir string, above bool) (bool, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return true, err
		case info.Mode()&fs.ModeSymlink != 0:
			return true, fmt.Errorf("%s: %w", at, errLink)
		case !info.IsDir():
			return true, fmt.Errorf("%s is not a directory", at)
		}
		if err := checkOwner(l, at, info); err != nil {
			return true, fmt.Errorf("%s: %w", at, err)
		}
		if !above || at == filepath.Dir(at) {
			return true, nil
		}
	}
}

func checkOwner(l *loader, path string, info fs.FileInfo) error {
	if l.o.CheckOwner != nil {
		return l.o.CheckOwner(path, info)
	}
	return ownedByRoot(info)
}
