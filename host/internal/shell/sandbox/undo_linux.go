//go:build amd64 || arm64

package sandbox

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	// keptFor is how long what was undone is kept.
	keptFor = 30 * 24 * time.Hour
	// maxCarried and maxCarriedFiles bound what is copied to another file system.
	maxCarried, maxCarriedFiles = 64 << 20, 10_000
	// asidePrefix begins the names of what waits to be copied.
	asidePrefix = ".toolquay-undone-"
)

// quarantine is a folder for what was undone: things that were made at names where nothing
// may be made. They are moved, so that nothing is lost that a person made.
//
// Commands may exchange folders and links while this works. So it goes by descriptors of
// folders in which no link is followed.
type quarantine struct{ dir string }

// quarantineIn is that in a folder for state.
func quarantineIn(state string) quarantine { return quarantine{filepath.Join(state, "undone")} }

// tidy removes what is old.
func (q quarantine) tidy() {
	entries, _ := os.ReadDir(q.dir) // it need not be there
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(moved(info)) > keptFor {
			_ = os.RemoveAll(filepath.Join(q.dir, e.Name())) // or the next time
		}
	}
}

// moved is when a file was last given a name.
func moved(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return info.ModTime()
}

// folder is a folder that things are taken out of, wherever it is moved.
type folder struct {
	path string // where it was
	fd   int
}

// openFolder opens a folder as commands see it, without following any symbolic link.
func (o *overlays) openFolder(path string) (*folder, error) {
	from, rest := "/", path
	if one, below := o.over(path); one != nil {
		from, rest = o.at(one.Root), below
	}
	fd, err := unix.Open(from, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for part := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		if err != nil || part == "" {
			break
		}
		above := fd
		fd, err = unix.Openat(above, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		_ = unix.Close(above)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &folder{path, fd}, nil
}

func (f *folder) close() { _ = unix.Close(f.fd) } // it has nothing to tell

// file tells which file has a name in the folder.
func (f *folder) file(name string) (fileID, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(f.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return fileID{stat.Dev, stat.Ino}, err
}

// fileID tells files apart, whatever they are called. A file that comes to be later may
// have the same, when the first is gone.
type fileID struct{ Device, Inode uint64 }

// aside is something that was given another name in its folder, for it to be copied later.
type aside struct {
	folder *folder
	name   string
	file   fileID
}

// take moves something out of a folder into the quarantine. It returns where that is now;
// empty if nothing has the name. If the quarantine lies in another file system, it is put
// aside. A command may have closed the folder, or what is moved, against that.
func (q quarantine) take(from *folder, name string) (to string, beside *aside, err error) {
	to, beside, err = q.try(from, name)
	if !errors.Is(err, fs.ErrPermission) {
		return to, beside, err
	}
	defer permit(from.fd)()
	if fd, err := unix.Openat(from.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
		defer func() { _ = unix.Close(fd) }() // it has nothing to tell
		permit(fd)                            // and it stays so, for a person to look at
	}
	return q.try(from, name)
}

func (q quarantine) try(from *folder, name string) (to string, beside *aside, err error) {
	file, err := from.file(name)
	if err != nil {
		return "", nil, unlessAbsent(err)
	}
	if err := privatedir.Make(q.dir); err != nil { // somebody may have removed it
		return "", nil, err
	}
	to = filepath.Join(q.dir, name+"-"+rand.Text()) // a name that nothing has
	err = unix.Renameat(from.fd, name, unix.AT_FDCWD, to)
	if errors.Is(err, unix.EXDEV) {
		beside = &aside{from, asidePrefix + rand.Text(), file}
		to = filepath.Join(from.path, beside.name)
		err = unix.Renameat(from.fd, name, from.fd, beside.name)
	}
	if err != nil {
		return "", nil, unlessAbsent(err)
	}
	return to, beside, nil
}

// absent says that nothing lies at a path, or that the way there is not one of folders.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

func unlessAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// permit lets this user, if it is the owner, change a folder. The function undoes that.
func permit(fd int) (undo func()) {
	var stat unix.Stat_t
	path := descriptorPath(fd)
	if unix.Fstat(fd, &stat) != nil || unix.Chmod(path, stat.Mode&0o7777|0o700) != nil {
		return func() {}
	}
	return func() { _ = unix.Chmod(path, stat.Mode&0o7777) } // it may be gone
}

// descriptorPath is a path to what a descriptor stands for, wherever that lies.
func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// carry copies what was put aside into the quarantine, and removes it, when nothing changes it
// any more. It returns where it is in the end.
func (q quarantine) carry(a *aside) string {
	stays := filepath.Join(a.folder.path, a.name)
	if file, err := a.folder.file(a.name); err != nil || file != a.file {
		return stays // it is somebody else's by now
	}
	root, err := os.OpenRoot(descriptorPath(a.folder.fd))
	if err != nil {
		return stays
	}
	defer func() { _ = root.Close() }() // it has nothing to tell
	to := filepath.Join(q.dir, rand.Text())
	if copied(root, a.name, to) != nil {
		_ = os.RemoveAll(to) // what there is of it
		return stays
	}
	if root.RemoveAll(a.name) != nil {
		return stays
	}
	return filepath.Join(to, a.name)
}

// copied copies a file, a link or a folder of a folder into a new one.
func copied(root *os.Root, name, to string) error {
	size, files := int64(0), 0
	err := fs.WalkDir(root.FS(), name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size, files = size+info.Size(), files+1
		if size > maxCarried || files > maxCarriedFiles {
			return errors.New("it is too large")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return os.CopyFS(to, only{root.FS(), name})
}

// only is a file system with one name at its top.
type only struct {
	fs.FS
	name string
}

// ReadDir implements [fs.ReadDirFS].
func (o only) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, path)
	if path != "." {
		return entries, err
	}
	for _, e := range entries {
		if e.Name() == o.name {
			return []fs.DirEntry{e}, nil
		}
	}
	return nil, fs.ErrNotExist
}

// ReadLink implements [fs.ReadLinkFS].
func (o only) ReadLink(path string) (string, error) { return fs.ReadLink(o.FS, path) }

// Lstat implements [fs.ReadLinkFS].
func (o only) Lstat(path string) (fs.FileInfo, error) { return fs.Lstat(o.FS, path) }
