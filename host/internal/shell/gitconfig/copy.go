package gitconfig

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/toolquay/toolquay/internal/tempdir"
)

const (
	// maxSize is the largest configuration that is copied, in bytes.
	maxSize = 256 << 10
	// maxChanges is how many keys one command may change.
	maxChanges = 200
	// maxNames is how many names are tried for the directory of a copy.
	maxNames = 64
	// waiting is how long a lock of git's may be held by others, and pause how often it is tried.
	waiting, pause = time.Second, 20 * time.Millisecond
)

// errLocked means that something else holds the lock on a configuration.
var errLocked = errors.New("another program holds its lock")

// Copy is a copy of a repository's configuration, on which one command works.
type Copy struct {
	// Path is the real file, and Private the copy.
	Path, Private string

	// base is what the copy held when it was made, or merged.
	base []byte
	// real is the directory of the real file, and own that of the copy: by descriptors, for
	// commands may put others in their places.
	real, own *os.Root
}

// Take copies a configuration in a directory that commands write in, both by their real paths,
// into a new directory in temp. at returns the path by which this process finds what commands
// see at a path; nil stands for the same path. Take fails with [fs.ErrInvalid] if the
// configuration is not a regular file of moderate size.
func Take(path, writable, temp string, at func(path string) string) (*Copy, error) {
	c := &Copy{Path: path}
	if at == nil {
		at = func(path string) string { return path }
	}
	if err := c.take(writable, temp, at); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Copy) take(writable, temp string, at func(path string) string) (err error) {
	dir, name := filepath.Split(c.Path)
	if c.real, err = openBelow(writable, dir, at); err != nil {
		return err
	}
	var mode fs.FileMode
	if c.base, mode, err = read(c.real, name); err != nil {
		return err
	}
	around, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, around.Close()) }()
	own, err := makeOwn(around)
	if err != nil {
		return err
	}
	c.Private = filepath.Join(temp, own, name)
	if c.own, err = around.OpenRoot(own); err != nil {
		return err
	}
	return write(c.own, name, c.base, mode)
}

// makeOwn makes a directory of the first name that is free: commands that follow each other have
// their copies in the same place, and so can have the same mounts.
func makeOwn(temp *os.Root) (name string, err error) {
	for i := range maxNames {
		name = "git-" + strconv.Itoa(i)
		if err = temp.Mkdir(name, 0o700); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	name = "git-" + rand.Text()
	return name, temp.Mkdir(name, 0o700)
}

// openBelow opens a directory in another one. Links that lead out of that are refused: a
// command may have put them there.
func openBelow(top, dir string, at func(path string) string) (*os.Root, error) {
	rest, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at(top))
	if err != nil {
		return nil, err
	}
	below, err := root.OpenRoot(rest)
	return below, errors.Join(err, root.Close())
}

// open opens a plain file of moderate size, which is no link.
func open(dir *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, nil, fmt.Errorf("%w: %s is no plain file of at most %d bytes", fs.ErrInvalid, name, maxSize)
	}
	f, err := dir.OpenFile(name, flags|unblocked, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(opened, info) {
		err = fmt.Errorf("%w: %s was replaced", fs.ErrInvalid, name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// read returns what a file holds, and its permissions.
func read(dir *os.Root, name string) ([]byte, fs.FileMode, error) {
	f, info, err := open(dir, name, os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(content) > maxSize {
		err = fmt.Errorf("%w: %s is too large", fs.ErrInvalid, name)
	}
	return content, info.Mode().Perm(), err
}

// write makes a new file.
func write(dir *os.Root, name string, content []byte, mode fs.FileMode) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// Close removes the copy. It is safe to repeat.
func (c *Copy) Close() {
	if c.own != nil {
		// What commands made beside it goes with the directory for temporary files.
		_ = c.own.Remove(filepath.Base(c.Path))
		_ = c.own.Close()
		_ = os.Remove(filepath.Dir(c.Private))
	}
	if c.real != nil {
		_ = c.real.Close()
	}
	c.own, c.real = nil, nil
}

// Options are what [Copy.Merge] goes by.
type Options struct {
	// Git is the path of the system's git.
	Git string
	// Writable are the directories that commands write in, as they really lie.
	Writable []string
}

// Outcome lists the keys that a command changed.
type Outcome struct {
	// Taken were written. Refused are protected, or may not have the value that they got.
	// Kept were changed by somebody else meanwhile.
	Taken, Refused, Kept []string
}

// Merge writes what a command changed, and may change, into the real file. It fails if the
// file cannot be written, or is locked for too long; nothing was taken then. What is merged
// while the command runs is not told again at its end.
func (c *Copy) Merge(ctx context.Context, with Options) (o Outcome, err error) {
	name := filepath.Base(c.Path)
	changed, _, err := read(c.own, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Equal(changed, c.base) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir, err := tempdir.Make()
	if err != nil {
		return o, err
	}
	defer func() { _ = dir.Close() }() // the next process sweeps what is left
	m := merging{Copy: c, git: git{with.Git, dir.Path}, judge: judge{writable: with.Writable}}
	before, err := m.git.list(ctx, c.base)
	if err != nil {
		return o, err
	}
	after, err := m.git.list(ctx, changed)
	if err != nil {
		return o, err
	}
	all := changes(before, after)
	if len(all) > maxChanges {
		return o, fmt.Errorf("over %d keys were changed", maxChanges)
	}
	o, err = m.merge(ctx, all)
	if err == nil {
		c.base = changed
	}
	return o, err
}

// merging is one merge.
type merging struct {
	*Copy
	git   git
	judge judge
}

// merge judges changes and writes those that pass, while no other git does.
func (m *merging) merge(ctx context.Context, all []change) (o Outcome, err error) {
	if len(all) == 0 {
		return o, nil
	}
	name := filepath.Base(m.Path)
	unlock, err := m.lock(ctx, name+".lock")
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	content, _, err := read(m.real, name)
	if err != nil {
		return o, err
	}
	if m.judge.now, err = m.git.list(ctx, content); err != nil {
		return o, err
	}
	o.Refused, o.Kept = m.judge.judge(all)
	if len(m.judge.taken) == 0 {
		return o, nil
	}
	next, err := m.git.apply(ctx, content, m.judge.taken)
	if err != nil {
		return o, err
	}
	if err := m.verify(ctx, next); err != nil {
		return o, err
	}
	if again, _, err := read(m.real, name); err != nil || !bytes.Equal(again, content) {
		return o, errors.Join(errors.New("another program changed it meanwhile"), err)
	}
	if err := m.replace(name, next); err != nil {
		return o, err
	}
	o.Taken = keysOf(m.judge.taken)
	return o, nil
}

// verify reads what is to be written once more: it must say what was judged, and else what
// it said before.
func (m *merging) verify(ctx context.Context, content []byte) error {
	next, err := m.git.list(ctx, content)
	if err != nil {
		return err
	}
	made := changes(m.judge.now, next)
	same := func(a, b change) bool { return a.key == b.key && slices.Equal(a.after, b.after) }
	for _, c := range made {
		if !slices.ContainsFunc(m.judge.taken, func(t change) bool { return same(c, t) }) {
			return fmt.Errorf("git wrote something else for %s", c.key)
		}
	}
	if len(made) != len(m.judge.taken) {
		return errors.New("git did not write all of it")
	}
	return nil
}

// lock takes git's lock on a configuration.
func (m *merging) lock(ctx context.Context, name string) (unlock func() error, err error) {
	for waited := time.Duration(0); ; waited += pause { // not by the clock: when this process is held up, so are others
		err = write(m.real, name, nil, 0o600)
		if err == nil {
			return func() error {
				if err := m.real.Remove(name); !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return nil
			}, nil
		}
		if !errors.Is(err, fs.ErrExist) || waited >= waiting || ctx.Err() != nil {
			break
		}
		time.Sleep(pause)
	}
	if errors.Is(err, fs.ErrExist) {
		err = errLocked
	}
	return nil, err
}

// replace writes new content into a configuration whose lock is held. It stays the same file,
// unlike when git writes it: a rename would take the mount away that protects it from what runs
// in the background, which could also open the new file before.
func (m *merging) replace(name string, content []byte) error {
	f, _, err := open(m.real, name, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	if err == nil {
		err = f.Truncate(int64(len(content)))
	}
	return errors.Join(err, f.Sync(), f.Close())
}
