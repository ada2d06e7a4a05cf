//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// reachable says whether a command in a sandbox, which has this process's user and
// none of its capabilities, comes as far as a path, or could open the way there: what
// belongs to its user it can. It matters to root: what root cannot reach without powers
// cannot be mounted on either, and needs no mask.
func (o *observations) reachable(path string) bool {
	if os.Geteuid() != 0 {
		return true // then looking at the path has answered that
	}
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		info, err := o.lstat(dir)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && int(stat.Uid) != os.Geteuid() && info.Mode().Perm()&searchBit(stat) == 0 {
			return false
		}
	}
	return true
}

// searchBit is the permission that lets this user, who is not its owner, through a
// folder.
func searchBit(stat *syscall.Stat_t) os.FileMode {
	groups, _ := os.Getgroups() // without them the others' bit is taken, which is rarely more
	if int(stat.Gid) == os.Getegid() || slices.Contains(groups, int(stat.Gid)) {
		return 0o010
	}
	return 0o001
}

// closedAbove is the innermost folder above a path that can be looked at. It is an error
// that it belongs to another: then nobody here opens it.
func (o *observations) closedAbove(path string) (string, error) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		resolved, err := o.resolve(dir)
		if errors.Is(err, fs.ErrPermission) && dir != "/" {
			continue
		}
		if err != nil {
			return "", err
		}
		info, err := o.lstat(resolved)
		if err != nil {
			return "", err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			return "", fs.ErrPermission
		}
		return resolved, nil
	}
}

// closedToUser says that this user can make nothing in a folder and cannot change
// that, which a folder's owner can.
func (o *observations) closedToUser(dir string) bool {
	err := o.may(dir, unix.W_OK)
	if err == nil {
		return false
	}
	info, statErr := o.lstat(dir)
	if statErr != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return errors.Is(err, unix.EROFS) || ok && int(stat.Uid) != os.Geteuid()
}

// closedToReader says that this user, who does not own a path of the machine's, cannot
// read it. A mask over it would only take time.
func (o *observations) closedToReader(path string) bool {
	info, err := o.lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return false
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) == os.Geteuid() {
		return false
	}
	if info.IsDir() && o.may(path, unix.X_OK) == nil {
		return false // what is in it may be open
	}
	return o.may(path, unix.R_OK) != nil
}

// realTarget resolves what there is of a path: the kernel's table of mounts, by which a
// sandbox is verified, knows no links.
func (o *observations) realTarget(path string) string {
	for at := path; at != "/"; at = filepath.Dir(at) {
		if resolved, err := o.resolve(at); err == nil {
			return filepath.Join(resolved, strings.TrimPrefix(path, at))
		}
	}
	return path
}

// below is the rest of a path in a resolved root, with the links that lead to the root
// followed.
func (o *observations) below(path, root string) (rest string, ok bool) {
	for at := path; ; at = filepath.Dir(at) {
		if resolved, err := o.resolve(at); err == nil && resolved == root {
			return strings.TrimPrefix(strings.TrimPrefix(path, at), "/"), true
		}
		if at == "/" {
			return "", false
		}
	}
}

// realDir resolves the path of a folder.
func (o *observations) realDir(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("%w: an empty path", ErrSpec)
	}
	resolved, err := o.resolve(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSpec, err)
	}
	if info, err := o.lstat(resolved); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: %s is no folder", ErrSpec, path)
	}
	return resolved, nil
}

// within says that a path is another or lies below it. Both are clean.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
