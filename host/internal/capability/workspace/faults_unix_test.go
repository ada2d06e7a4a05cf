//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// nameless makes the files of a draft have a temporary name from the start.
func nameless(c *calls) {
	c.unnamed = func(int, uint32) (int, error) { return -1, unix.EOPNOTSUPP }
}

// noExchange is a file system that knows neither exchanges nor moves.
func noExchange(c *calls) {
	c.exchange = func(int, string, string) error { return unix.EINVAL }
	c.move = c.exchange
}

// failing lets a call fail from the nth time on, n times in all; times 0 is for ever.
func failing(call func(int, string, string) error, from, times int) func(int, string, string) error {
	calls := 0
	return func(dir int, a, b string) error {
		calls++
		if calls >= from && (times == 0 || calls < from+times) {
			return unix.EIO
		}
		return call(dir, a, b)
	}
}

func ioError(int) error { return unix.EIO }

func once(call func(int) error) func(int) error {
	calls := 0
	return func(fd int) error {
		if calls++; calls == 1 {
			return unix.EIO
		}
		return call(fd)
	}
}

// failure is a system that fails, and how it may be told apart from one that does not.
type failure struct {
	set     func(c *calls)
	fine    bool   // it is got over
	says    string // what the error says
	remains bool   // something may be left, and is named
}

var failures = map[string]failure{
	"none":        {set: func(*calls) {}, fine: true},
	"no nameless": {set: nameless, fine: true},
	"no exchange": {set: noExchange, fine: true},
	"neither":     {set: func(c *calls) { nameless(c); noExchange(c) }, fine: true},
	"open EDQUOT": {set: func(c *calls) {
		nameless(c)
		c.named = func(int, string, uint32) (int, error) { return -1, unix.EDQUOT }
	}, says: "quota"},
	"open EROFS": {set: func(c *calls) {
		nameless(c)
		c.named = func(int, string, uint32) (int, error) { return -1, unix.EROFS }
	}, says: "read-only file system"},
	"open EACCES": {set: func(c *calls) {
		nameless(c)
		c.named = func(int, string, uint32) (int, error) { return -1, unix.EACCES }
	}, says: "directory"},
	"write EIO":        {set: func(c *calls) { c.write = func(int, []byte) (int, error) { return -1, unix.EIO } }, says: "input/output"},
	"write ENOSPC":     {set: func(c *calls) { c.write = func(int, []byte) (int, error) { return -1, unix.ENOSPC } }, says: "make room"},
	"second ENOSPC":    {set: shortThen(unix.ENOSPC), says: "make room"},
	"write of nothing": {set: func(c *calls) { c.write = func(int, []byte) (int, error) { return 0, nil } }, says: "short write"},
	"short writes":     {set: shortWrites, fine: true},
	"interrupted":      {set: interrupted, fine: true},
	"sync EIO":         {set: func(c *calls) { c.sync = ioError }, says: "input/output"},
	"sync ENOSPC":      {set: func(c *calls) { c.sync = func(int) error { return unix.ENOSPC } }, says: "make room"},
	"link EIO": {set: func(c *calls) {
		c.link = func(int, int, string) error { return unix.EIO }
		c.move = failing(c.move, 1, 0)
	}, says: "input/output"},
	"exchange EIO": {set: func(c *calls) { c.exchange = failing(c.exchange, 1, 0); nameless(c); c.move = failing(c.move, 1, 0) }, says: "input/output"},
	"exchange EBUSY": {set: func(c *calls) {
		c.exchange = func(int, string, string) error { return unix.EBUSY }
		nameless(c)
		c.move = c.exchange
	}, says: "mount point"},
	"dir sync EIO":  {set: func(c *calls) { c.syncDir = ioError }, says: "input/output"},
	"dir sync once": {set: func(c *calls) { c.syncDir = once(c.syncDir) }, says: "input/output"},
	"dir sync, nothing taken back": {
		set: func(c *calls) {
			c.syncDir = ioError
			c.exchange = failing(c.exchange, 2, 0)
			c.move = failing(c.move, 1, 0)
		},
		says: "input/output", remains: true,
	},
	"unlink EIO": {set: func(c *calls) {
		nameless(c)
		c.unlink = func(int, string) error { return unix.EIO }
		c.move = failing(c.move, 1, 0)
	}, says: "left behind", remains: true},
	"rename EIO": {set: func(c *calls) {
		nameless(c)
		noExchange(c)
		c.rename = failing(c.rename, 1, 0)
		c.move = failing(c.move, 1, 0)
	}, says: "input/output"},
	"rename, dir sync EIO": {
		set:  func(c *calls) { noExchange(c); c.syncDir = ioError; c.move = failing(c.move, 1, 0) },
		says: "may be lost", remains: true,
	},
}

func shortWrites(c *calls) {
	write := c.write
	c.write = func(fd int, p []byte) (int, error) { return write(fd, p[:min(len(p), 3)]) }
}

func interrupted(c *calls) {
	write, calls := c.write, 0
	c.write = func(fd int, p []byte) (int, error) {
		if calls++; calls%2 == 1 {
			return -1, unix.EINTR
		}
		return write(fd, p)
	}
}

func shortThen(err error) func(c *calls) {
	return func(c *calls) {
		write, calls := c.write, 0
		c.write = func(fd int, p []byte) (int, error) {
			if calls++; calls > 1 {
				return -1, err
			}
			return write(fd, p[:1])
		}
	}
}

// putWith is put with other system calls.
func putWith(n *Node, c calls, text string) (Info, error) {
	s, err := stageWith(n, c)
	if err != nil {
		return Info{}, writeFault(n.Target, err)
	}
	d := &Draft{target: n.Target, staging: s}
	if _, err := io.WriteString(d, text); err != nil {
		return Info{}, joinLeft(err, d.Discard())
	}
	return d.Commit(n.Info)
}

// Whatever fails, the file holds what it held or what was written, whole, and
// nothing is left that no error names.
func TestDraftFaults(t *testing.T) {
	t.Parallel()
	for name, f := range failures {
		for _, path := range []string{"f", "new", "x/y/new"} {
			t.Run(name+"/"+path, func(t *testing.T) {
				t.Parallel()
				root := tree(t, "f")
				n := resolve(t, root, path)
				before := text(n.Real)
				c := system
				f.set(&c)
				_, err := putWith(n, c, "content")
				after := text(n.Real)
				switch {
				case f.fine && err != nil:
					t.Error(err)
				case err == nil && after != "content":
					t.Errorf("it holds %q", after)
				case err == nil:
					clean(t, root)
				case f.remains:
					toldWhole(t, root, err, before)
				default:
					refusedWhole(t, root, path, err, before)
				}
				if err != nil && after == "content" && !errors.Is(err, ErrUncertain) {
					t.Errorf("the content is in place, and nothing says so: %v", err)
				}
				if err != nil && (abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), f.says)) {
					t.Errorf("%s: %v; want %q in it", abi.CodeOf(err), err, f.says)
				}
				if err == nil && !f.fine && path == "f" {
					t.Error("no error")
				}
			})
		}
	}
}

// refusedWhole checks that a failed draft changed nothing.
func refusedWhole(t *testing.T, root, path string, err error, before string) {
	t.Helper()
	if after := text(filepath.Join(root, path)); after != before {
		t.Errorf("after %v it holds %q", err, after)
	}
	if !strings.Contains(err.Error(), filepath.Join(root, path)) {
		t.Errorf("%v does not name the file", err)
	}
	if _, err := os.Lstat(filepath.Join(root, "x")); err == nil {
		t.Error("a directory that was made is still there")
	}
	clean(t, root)
}

// toldWhole checks that what is left is whole, and named by the error or new.
func toldWhole(t *testing.T, root string, err error, before string) {
	t.Helper()
	for _, left := range litter(t, root) {
		if !strings.Contains(err.Error(), left) {
			t.Errorf("%v does not name %s", err, left)
		}
		if got := text(left); got != before && got != "content" {
			t.Errorf("%s holds %q", left, got)
		}
	}
	if got := text(filepath.Join(root, "f")); got != "f" && got != "content" {
		t.Errorf("it holds %q", got)
	}
}

func TestDraftMakeDirFails(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	c, calls := system, 0
	c.mkdir = func(dir int, name string) error {
		if calls++; calls > 2 {
			return unix.ENOSPC
		}
		return system.mkdir(dir, name)
	}
	_, err := putWith(resolve(t, root, "x/y/z/new"), c, "content")
	if calls != 3 || abi.CodeOf(err) != abi.CodeIO {
		t.Errorf("after %d directories: %v", calls, err)
	}
	refusedWhole(t, root, "x/y/z/new", err, text(filepath.Join(root, "x/y/z/new")))
}
