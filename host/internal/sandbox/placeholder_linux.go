//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// placeholder is a name that must not be made. Others see what lies there, so it is as
// little as can be:
//
//   - for a folder an empty one, closed to changes: what programs look for in it is not
//     there, as it was before;
//   - for a file a socket nobody listens at, which no program can open and no version
//     control takes for content, or where there are none an empty file nobody can read;
//   - for [standInName] a file that says what its absence says.
//
// They are made and removed by way of handles of the folders above, in which no link is
// followed: what runs in a sandbox may put links there at any time.
type placeholder struct {
	path string
	dir  bool
}

// standInName is git's name for a file that leads to another repository, and
// standInContent what leads to the one that it lies in. Git gives up where the file is
// there and says nothing.
const (
	standInName    = "commondir"
	standInContent = ".\n"
)

func isStandIn(path string) bool { return filepath.Base(path) == standInName }

// absentIn is what lies, in sandboxes, where no file is to be made, and standInIn what does
// for a stand-in. state is [Options].State.
func absentIn(state string) string  { return filepath.Join(state, "absent") }
func standInIn(state string) string { return filepath.Join(state, standInName) }

// The permissions of placeholders.
const (
	emptyDir  = 0o555
	readable  = 0o444
	forNobody = 0
)

// fileID tells files apart, whatever they are called. A file that comes to be later may
// have the same, when the first is gone.
type fileID struct{ Device, Inode uint64 }

// make makes a placeholder and tells which file it is.
func (one placeholder) make() (fileID, error) {
	dir, name, err := parentOf(one.path)
	if err != nil {
		return fileID{}, err
	}
	defer func() { _ = unix.Close(dir) }()
	if err := one.makeIn(dir, name); err != nil {
		return fileID{}, &fs.PathError{Op: "make", Path: one.path, Err: err}
	}
	var stat unix.Stat_t
	err = unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return idOf(&stat), err
}

func (one placeholder) makeIn(dir int, name string) error {
	switch {
	case one.dir:
		return unix.Mkdirat(dir, name, emptyDir)
	case isStandIn(name):
		return makeFile(dir, name, readable, standInContent)
	}
	err := unix.Mknodat(dir, name, unix.S_IFSOCK|forNobody, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) {
		return makeFile(dir, name, forNobody, "") // a file system without sockets
	}
	return err
}

func makeFile(dir int, name string, mode uint32, content string) error {
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// look tells which file a placeholder at a path is; none if what lies there is none.
func look(path string) (fileID, error) {
	dir, name, err := parentOf(path)
	if err != nil {
		return fileID{}, err
	}
	defer func() { _ = unix.Close(dir) }()
	return lookIn(dir, name)
}

// lookIn tells placeholders by what hardly anybody else makes. It is only what has been
// listed in a journal besides that is taken for one of ours.
func lookIn(dir int, name string) (fileID, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return fileID{}, nil
	}
	if err != nil {
		return fileID{}, err
	}
	permissions, looks := stat.Mode&0o777, false
	switch kind := stat.Mode & unix.S_IFMT; {
	case kind == unix.S_IFSOCK:
		looks = permissions == forNobody
	case kind == unix.S_IFDIR:
		looks = permissions&^emptyDir == 0 && isEmpty(dir, name)
	case kind == unix.S_IFREG && isStandIn(name):
		looks = permissions&^readable == 0 && says(dir, name, standInContent)
	case kind == unix.S_IFREG:
		looks = permissions == forNobody && stat.Size == 0
	}
	if !looks || int(stat.Uid) != os.Geteuid() {
		return fileID{}, nil
	}
	return idOf(&stat), nil
}

func idOf(stat *unix.Stat_t) fileID { return fileID{stat.Dev, stat.Ino} }

func isEmpty(dir int, name string) bool {
	f, err := openIn(dir, name, unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it is only read
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

func says(dir int, name, content string) bool {
	f, err := openIn(dir, name, unix.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it is only read
	got, err := io.ReadAll(io.LimitReader(f, int64(len(content))+1))
	return err == nil && bytes.Equal(got, []byte(content))
}

func openIn(dir int, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(dir, name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// remove removes a placeholder if it is still the one that was made, and, being a
// folder, empty. Of one that was only about to be made, it goes by the looks.
func remove(path string, file fileID) error {
	dir, name, err := parentOf(path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil // it went with the folder that it was in, or was moved with that
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	there, err := lookIn(dir, name)
	if err != nil || there == (fileID{}) || file != (fileID{}) && file != there {
		return err
	}
	err = unix.Unlinkat(dir, name, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return &fs.PathError{Op: "remove", Path: path, Err: err}
}

// parentOf opens the folder that a path lies in, without following any link: paths of
// placeholders have none.
func parentOf(path string) (fd int, name string, err error) {
	dir, name := filepath.Split(path)
	fd, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if err != nil {
			break
		}
		if part == "" {
			continue
		}
		above := fd
		fd, err = unix.Openat(above, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		_ = unix.Close(above)
	}
	if err != nil {
		return -1, "", &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return fd, name, nil
}

// IsPlaceholder reports whether what lies at a path looks like a sandbox's placeholder.
func IsPlaceholder(path string) bool { return isPlaceholder(path) }

// isPlaceholder tells placeholders by their looks.
func isPlaceholder(path string) bool {
	file, err := look(path)
	return err == nil && file != (fileID{})
}

// lstatOrAbsent is [os.Lstat] of a path where placeholders count as nothing. Other
// processes make and remove them meanwhile: what was looked at twice is no other.
func lstatOrAbsent(path string) (fs.FileInfo, error) {
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		if isPlaceholder(path) {
			return nil, fs.ErrNotExist
		}
		if again, err := os.Lstat(path); err == nil && os.SameFile(info, again) {
			return info, nil
		}
	}
}
