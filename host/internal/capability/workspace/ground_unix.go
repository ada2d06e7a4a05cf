//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// ground is the directory that a draft is for, held.
type ground struct {
	calls *calls
	path  string
	fd    int
	info  Info
	// former is the file that the draft is to replace, as it now is; zero for none.
	former Info
	made   []made // the topmost first
}

// made is a directory that was made for a draft.
type made struct {
	parent int
	name   string
	info   Info
}

// hold takes hold of the directory in which a node lies, over no link; of one that
// is not there it makes what is missing if the node is missing too.
func hold(n *Node, c *calls) (*ground, error) {
	g := &ground{calls: c, path: filepath.Dir(n.Real), fd: -1}
	err := g.find(!n.Exists())
	if err == nil {
		err = g.fits(n)
	}
	if err != nil {
		return nil, joinLeft(err, g.remove())
	}
	return g, nil
}

// fits checks that the node is what has its name here, or that it can be.
func (g *ground) fits(n *Node) error {
	now, err := fstatat(g.fd, filepath.Base(n.Real))
	switch {
	case n.Exists() && (errors.Is(err, unix.ENOENT) || err == nil && !now.Same(n.Info)):
		return errReplaced
	case err != nil && !errors.Is(err, unix.ENOENT):
		return err
	case !n.Exists() && kernelOwned(g.fd, g.info):
		return refused(n.Target, "it lies in a file system of the kernel's")
	case n.Exists():
		g.former = now
	}
	return nil
}

// find walks to the directory. All links were resolved when its path was found: one
// that is met now was put there since.
func (g *ground) find(makeMissing bool) error {
	fd, err := openDirect(g.path)
	switch {
	case err == nil:
		g.fd = fd
		return g.see()
	case errors.Is(err, unix.ELOOP):
		return errReplaced
	}
	if err := g.enter(unix.AT_FDCWD, "/"); err != nil {
		return err
	}
	for name := range strings.SplitSeq(g.path, "/") {
		if name == "" {
			continue
		}
		if err := g.descend(name, makeMissing); err != nil {
			return err
		}
	}
	return nil
}

// enter takes hold of a directory instead of the one that is held.
func (g *ground) enter(dir int, name string) error {
	fd, err := openat(dir, name, holdDir)
	if err != nil {
		return err
	}
	if g.fd >= 0 && (len(g.made) == 0 || g.made[len(g.made)-1].parent != g.fd) {
		_ = unix.Close(g.fd)
	}
	g.fd = fd
	return g.see()
}

// see notes what is held, which must be a directory.
func (g *ground) see() error {
	var err error
	if g.info, err = fstat(g.fd); err == nil && g.info.Kind != abi.KindDirectory {
		err = errReplaced
	}
	return err
}

func (g *ground) descend(name string, makeMissing bool) error {
	err := g.enter(g.fd, name)
	if errors.Is(err, unix.ENOENT) && makeMissing {
		err = g.makeDir(name)
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return errReplaced
	}
	return err
}

// makeDir makes a directory and enters it. Where somebody was faster it is theirs.
func (g *ground) makeDir(name string) error {
	if kernelOwned(g.fd, g.info) {
		return refused(g.path, "it lies in a file system of the kernel's")
	}
	parent := g.fd
	err := g.calls.mkdir(parent, name)
	if errors.Is(err, unix.EEXIST) {
		return g.enter(parent, name)
	}
	if err != nil {
		return err
	}
	g.made = append(g.made, made{parent: parent, name: name})
	if err := g.enter(parent, name); err != nil {
		return err
	}
	g.made[len(g.made)-1].info = g.info
	return nil
}

// stays checks that the path still leads to what is held.
func (g *ground) stays() error {
	now := &ground{calls: g.calls, path: g.path, fd: -1}
	err := now.find(false)
	if err == nil && !now.info.Same(g.info) {
		err = errReplaced
	}
	now.close()
	return err
}

// sync writes out the directory, and those that got a new one.
func (g *ground) sync() error {
	if err := g.calls.syncDir(g.fd); err != nil {
		return err
	}
	for _, m := range slices.Backward(g.made) {
		if err := g.calls.syncDir(m.parent); err != nil {
			return err
		}
	}
	return nil
}

// remove takes away the directories that were made, if nothing came to lie in them,
// and lets go.
func (g *ground) remove() error {
	var err error
	for _, m := range slices.Backward(g.made) {
		now, gone := fstatat(m.parent, m.name)
		if gone != nil || !now.Same(m.info) {
			continue // moved or taken away by somebody
		}
		if e := unix.Unlinkat(m.parent, m.name, unix.AT_REMOVEDIR); e != nil && !isNotEmpty(e) {
			err = fmt.Errorf("the directory %q that was made for it could not be removed: %w", m.name, e)
		}
	}
	g.close()
	return err
}

func isNotEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
}

func (g *ground) close() {
	for _, m := range g.made {
		_ = unix.Close(m.parent)
	}
	if g.fd >= 0 {
		_ = unix.Close(g.fd)
	}
	g.made, g.fd = nil, -1
}

// move renames to a name that nothing has. Where the system cannot do that in one
// step a hard link does it, and where there are none the name is looked at before.
func (g *ground) move(from, to string) error {
	err := g.calls.move(g.fd, from, to)
	if !incapable(err) {
		return err
	}
	err = unix.Linkat(g.fd, from, g.fd, to, 0)
	if err == nil {
		return g.calls.unlink(g.fd, from)
	}
	if errors.Is(err, unix.EEXIST) {
		return err
	}
	if _, err := fstatat(g.fd, to); !errors.Is(err, unix.ENOENT) {
		return errors.Join(unix.EEXIST, err)
	}
	return g.calls.rename(g.fd, from, to)
}
