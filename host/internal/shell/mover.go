package shell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/touches"
)

// mover lets a command whose changes are staged rename directories. An overlay refuses that (EXDEV)
// for directories that exist in the lower directory, and some programs, such as git, do not copy them
// instead. So before the call continues, mover moves all files of such a directory to a new directory in
// the overlay, which replaces the old one. It works through the command's mounts, so it changes nothing
// that the command could not change. If it fails, the call fails with EXDEV.
type mover struct {
	look func(path string) (*os.File, error)
}

var _ touches.Handler = (*mover)(nil)

// longestMove bounds a move. It is less than [touches.Patience], after which the command continues.
const longestMove = touches.Patience / 2

// Begin implements [touches.Handler], as do the other exported methods.
func (m *mover) Begin(look func(path string) (*os.File, error)) { m.look = look }

// Touch does nothing.
func (*mover) Touch(string, bool) {}

// Link does nothing.
func (*mover) Link(string, string) {}

// Missed does nothing: the call fails as it would without mover.
func (*mover) Missed(error) {}

// Rename prepares directories for a rename. Errors are not reported: the command's call fails then.
func (m *mover) Rename(from, to string, exchange bool) {
	_ = m.own(from)
	if exchange {
		_ = m.own(to)
	}
}

// own replaces a directory that exists in the lower directory by a new one in the overlay, with the same files.
func (m *mover) own(path string) error {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return err // it is not in the lower directory
	}
	above, err := m.look(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer above.Close()
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", above.Fd()))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(path)
	aside := name + ".moving-" + rand.Text()
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return err
	}
	move := moving{root, time.Now().Add(longestMove)}
	if err := move.dir(name, aside); err != nil {
		back := moving{root: root}
		return errors.Join(err, back.dir(aside, name))
	}
	return root.Rename(aside, name)
}

// moving moves directories file by file. It stops at the time until, unless that is zero.
type moving struct {
	root  *os.Root
	until time.Time
}

var errLongMove = errors.New("moving the directory takes too long")

// dir moves the files of a directory to another one, which it makes if needed, and removes the first.
func (m moving) dir(from, to string) error {
	info, err := m.root.Lstat(from)
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(m.root.FS(), filepath.ToSlash(from))
	if err != nil {
		return err
	}
	err = m.root.Mkdir(to, 0o700)
	made := err == nil
	if !made && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, e := range entries {
		was, is := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case !m.until.IsZero() && time.Now().After(m.until):
			err = errLongMove
		case e.IsDir():
			err = m.dir(was, is)
		default:
			err = m.root.Rename(was, is)
		}
		if err != nil {
			return err
		}
	}
	if made {
		if err := likeDir(m.root, to, info); err != nil {
			return err
		}
	}
	return m.root.Remove(from)
}

// likeDir gives a directory the mode and times of another one.
func likeDir(root *os.Root, name string, info fs.FileInfo) error {
	const bits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	return errors.Join(root.Chmod(name, info.Mode()&bits), root.Chtimes(name, info.ModTime(), info.ModTime()))
}
