package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolquay/toolquay/abi"
)

// MaxCode bounds what a module of that many bytes may be compiled to, in bytes:
// native code is a few times the size of what it was compiled from.
func MaxCode(module int) int64 { return 32*int64(module) + 64<<20 }

// maxLeft bounds the files and directories that a compiler leaves. wazero makes
// one of each.
const maxLeft = 16

// fill has a module compiled into an empty directory and puts it into the cache. The
// compiler may run in another process, which what it works on may have taken over.
func (c *cache) fill(key [32]byte, re *rewritten, compile func(dir string) error) error {
	c.sweep()
	dir, err := c.temporary()
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "the module cannot be compiled: %w", err)
	}
	defer c.discard(dir)
	// Held from before anybody else knows of it: whatever its name may come to
	// mean, this is the directory that is looked into.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "the module cannot be compiled: %w", err)
	}
	defer root.Close()
	if err := compile(dir); err != nil {
		return notCompiling(err)
	}
	err = c.adopt(key, re, root)
	if refused, ok := errors.AsType[refusal](err); ok {
		c.log.Warn("what the compiler left was refused and deleted; the module may have broken out of it", "reason", refused)
		return abi.Errorf(abi.CodeLoad, "the compiled module is refused: %w", refused)
	}
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "the compiled module cannot be put into the cache: %w", err)
	}
	return nil
}

// refusal says what is wrong with what a compiler left.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// adopt makes the directory of a module out of the one that it was compiled into. The
// files are copied: the originals may have other names, and be open elsewhere. They are
// shown to wazero with this module alone, so that a compiler that was taken over can
// spoil nothing but the module that did it, whatever it called them.
//
// The code itself cannot be checked. It runs for its module alone, but in this
// process.
func (c *cache) adopt(key [32]byte, re *rewritten, from *os.Root) error {
	dir, err := c.temporary()
	if err != nil {
		return err
	}
	defer c.discard(dir)
	h := &handover{from: from, to: filepath.Join(dir, codeDir), room: MaxCode(len(re.wasm.b)), code: make(map[string]storedFile)}
	if err := h.take("."); err != nil {
		return err
	}
	s := stored{Module: describe(re.wasm.b), Code: h.code, Facts: re.facts}
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleFile), re.wasm.b, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, storedJSON), text, 0o600)
	}
	if err != nil {
		return err
	}
	re.code = nil
	for name := range s.Code {
		re.code = append(re.code, name)
	}
	err = os.Rename(dir, c.dir(key))
	if _, there := os.Lstat(c.dir(key)); there == nil {
		return nil // also where another process was quicker
	}
	return err
}

// handover copies what lies in a directory, files of bounded size, and few.
type handover struct {
	from *os.Root
	to   string
	left int
	room int64
	code map[string]storedFile
}

func (h *handover) take(name string) error {
	if err := os.Mkdir(filepath.Join(h.to, name), 0o700); err != nil {
		return err
	}
	dir, err := h.from.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	found, err := dir.ReadDir(maxLeft + 1) // there may be a million
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, e := range found {
		if h.left++; h.left > maxLeft {
			return refuse("the compiler left more than the module's code: over %d files and directories", maxLeft)
		}
		path := filepath.Join(name, e.Name())
		if e.IsDir() {
			err = h.take(path)
		} else {
			err = h.file(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *handover) file(name string) error {
	in, err := h.from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if err != nil {
		return refuse("the compiler left %q, which cannot be opened: %v", name, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > h.room {
		return refuse("the compiler left %q, which is not a file of at most %s: %s, %v", name, abi.Size(h.room), abi.Size(info.Size()), info.Mode())
	}
	h.room -= info.Size()
	h.code[name], err = copyTo(filepath.Join(h.to, name), io.LimitReader(in, info.Size()))
	return err
}
