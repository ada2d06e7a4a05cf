package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
)

// MaxCode bounds what a module of that many bytes may be compiled to, in bytes:
// native code is a few times the size of what it was compiled from.
func MaxCode(module int) int64 { return 32*int64(module) + 64<<20 }

// fill has a module compiled into a directory of its own and takes over its
// code. The compiler may run in another process, which what it works on may have
// taken over.
func (c *cache) fill(re *rewritten, compile func(dir string) error) error {
	c.sweep()
	dir, err := os.MkdirTemp(c.root, compilingPrefix)
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
	err = c.adopt(re, root)
	if refused, ok := errors.AsType[refusal](err); ok {
		c.log.Warn("what the compiler left was refused and deleted; the module may have broken out of it", "reason", refused)
		return abi.Errorf(abi.CodeLoad, "the compiled module is refused: %w", refused)
	}
	if err != nil {
		return abi.Errorf(abi.CodeLoad, "the compiled module cannot be put into the cache: %w", err)
	}
	return nil
}

// discard deletes a directory that was compiled into.
func (c *cache) discard(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		c.log.Warn("what a compiler left could not be deleted", "reason", err)
	}
}

// refusal says what is wrong with what a compiler left.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// adopt takes a module's code out of the directory that it was compiled into.
// One regular file is taken, of bounded size and under a name that is no other
// module's, so that a compiler that was taken over can spoil nothing but the
// module that did it. It is copied: the original may have other names, and be
// open elsewhere. Where there is anything else, nothing is taken.
//
// The code itself cannot be checked. It runs for its module alone, but in this
// process.
func (c *cache) adopt(re *rewritten, root *os.Root) error {
	sub, err := only(root)
	if err != nil {
		return err
	}
	if want := filepath.Base(c.entries); sub.Name() != want || !sub.IsDir() {
		return refuse("the compiler left %q, not the directory %q; it is for another engine version or processor, or was tampered with", sub.Name(), want)
	}
	entries, err := root.OpenRoot(sub.Name())
	if err != nil {
		return err
	}
	defer entries.Close()
	entry, err := only(entries)
	if err != nil {
		return err
	}
	name, ok := entryFor(re.skeleton.b, entry.Name(), re.wasm.b)
	if !ok {
		return refuse("the compiler left %q, which is not the name of this module's code under wazero %s", entry.Name(), engineVersion())
	}
	return c.take(re, entries, entry.Name(), name)
}

// only returns what lies in a directory, one thing by itself.
func only(root *os.Root) (fs.DirEntry, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := dir.ReadDir(2) // there may be a million
	switch {
	case len(found) == 2:
		return nil, refuse("the compiler left more than the module's code: %q beside %q", found[1].Name(), found[0].Name())
	case len(found) == 1:
		return found[0], nil
	case err == nil || errors.Is(err, io.EOF):
		return nil, refuse("the compiler left no code")
	}
	return nil, err
}

// take copies an entry into the cache, under the name by which the module's skeleton
// finds it, and notes whose it is.
func (c *cache) take(re *rewritten, entries *os.Root, name, as string) error {
	in, err := entries.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if err != nil {
		return refuse("the compiler left %q, which cannot be opened: %v", name, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if most := MaxCode(len(re.wasm.b)); !info.Mode().IsRegular() || info.Size() > most {
		return refuse("the compiler left %q, which is not a file of at most %s: %s, %v", name, abi.Size(most), abi.Size(info.Size()), info.Mode())
	}
	copied, sum, err := c.duplicate(in, info.Size())
	if err != nil {
		return err
	}
	text, err := json.Marshal(stored{File: as, Size: info.Size(), Sum: sum})
	if err == nil {
		err = os.Rename(copied, filepath.Join(c.entries, as))
	}
	if err != nil {
		return errors.Join(err, os.Remove(copied))
	}
	return atomicfile.Write(c.indexFile(re.hash), text, 0o600)
}

// duplicate copies size bytes to a file of the cache's own, and returns what
// [checksum] makes of it. What a crash leaves of it is swept, or does not fit that.
func (c *cache) duplicate(in io.Reader, size int64) (name string, sum uint32, err error) {
	out, err := os.CreateTemp(c.root, compilingPrefix)
	if err != nil {
		return "", 0, err
	}
	if _, err = io.CopyN(out, in, size); err == nil {
		sum, err = checksum(out, size)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", 0, errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), sum, nil
}

// entryNames are the names under which wazero may look for a module's code. It
// cannot be asked, and whoever compiled the module is not believed. A name is a
// hash over the module, the configuration, and the processor's features, of which
// wazero knows three bits: see AssignModuleID and fileCacheKey there. Which are
// this processor's does not matter: under any of these names lies code of this
// module, or nothing.
func entryNames(wasm []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		module := sha256.New()
		module.Write(wasm)
		module.Write([]byte{0}) // compiled without a check for cancellation
		key := append(module.Sum(nil), "WAZEVO"...)
		for features := range uint64(1 << 8) {
			sum := sha256.Sum256(binary.LittleEndian.AppendUint64(slices.Clone(key), features))
			if !yield(hex.EncodeToString(sum[:])) {
				return
			}
		}
	}
}

// entryFor returns the name under which other's code would lie where name is that
// of wasm's; false where that is none.
func entryFor(other []byte, name string, wasm []byte) (string, bool) {
	next, stop := iter.Pull(entryNames(other))
	defer stop()
	for own := range entryNames(wasm) {
		if to, _ := next(); own == name {
			return to, true
		}
	}
	return "", false
}
