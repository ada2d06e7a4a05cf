package engine

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// cache keeps compiled code, and modules as the pre-pass wrote them, between
// processes. What it holds is native code that will be run, so its directory
// must be the user's own and closed to others; one that is not is done without.
//
// wazero checks the code it reads back, but not the tables beside it, and takes
// a damaged entry for a broken module. So an index beside the entries says which
// one belongs to which module, and what its checksum is; an entry that does not
// fit is deleted and compiled again. Every module is compiled into a directory
// of its own, out of which its entry is taken: see fill.
type cache struct {
	wazero  wazero.CompilationCache
	root    string
	entries string // wazero's own directory below root
	index   string
	modules string
	log     *slog.Logger
}

// stored is what the index says of an entry. Sum is its [checksum].
type stored struct {
	File string `json:"file"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

// storedModule is what the cache says of a rewritten module.
type storedModule struct {
	Skeleton storedFile    `json:"skeleton"`
	Whole    storedFile    `json:"whole"`
	Hash     string        `json:"sha256"` // the skeleton's
	Facts    prepass.Facts `json:"facts"`
}

type storedFile struct {
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

func fileOf(b []byte) storedFile {
	return storedFile{int64(len(b)), crc32.Checksum(b, castagnoli)}
}

// The endings of what is kept of a module, behind its key.
const (
	endingModule   = ".wasm"
	endingSkeleton = ".skeleton"
	endingStored   = ".json"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openCache opens the cache in dir, or returns nil where there is none to be
// had. An unusable cache costs time, never a call.
func openCache(dir string, log *slog.Logger) *cache {
	if dir == "" {
		return nil
	}
	c := &cache{log: log}
	c.root = filepath.Join(dir, "wazero-"+engineVersion()+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	c.index, c.modules = filepath.Join(c.root, "index"), filepath.Join(c.root, "modules")
	var err error
	for _, d := range []string{dir, c.root, c.index, c.modules} {
		if err = privatedir.Make(d); err != nil {
			log.Warn("compiling without a cache", "dir", d, "reason", err)
			return nil
		}
	}
	if c.wazero, err = wazero.NewCompilationCacheWithDir(c.root); err == nil {
		c.entries, err = wazeroDir(c.root)
	}
	if err != nil {
		log.Warn("compiling without a cache", "dir", c.root, "reason", err)
		return nil
	}
	return c
}

// engineVersion is the version of wazero this program was built with.
func engineVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			return dep.Version
		}
	}
	return "unknown"
}

// wazeroDir finds the directory that wazero makes for its version.
func wazeroDir(root string) (string, error) {
	names, err := os.ReadDir(root)
	if err != nil {
		return "", err
	}
	for _, e := range names {
		if e.IsDir() && strings.HasPrefix(e.Name(), "wazero") {
			return filepath.Join(root, e.Name()), nil
		}
	}
	return "", fs.ErrNotExist
}

// has reports whether the cache holds a module's code, undamaged. What is
// damaged is deleted.
func (c *cache) has(module [32]byte) bool {
	want, ok := c.lookup(module)
	if !ok {
		return false
	}
	found, err := measure(filepath.Join(c.entries, want.File))
	if err == nil && found == want {
		return true
	}
	if err == nil {
		c.log.Warn("a damaged entry of the compile cache was deleted; the module is compiled again", "entry", want.File)
	}
	c.purge(module)
	return false
}

// measure tells of a file what the index says of it.
func measure(file string) (stored, error) {
	f, err := os.Open(file)
	if err != nil {
		return stored{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return stored{}, err
	}
	sum, err := checksum(f, info.Size())
	return stored{File: filepath.Base(file), Size: info.Size(), Sum: sum}, err
}

func (c *cache) lookup(module [32]byte) (stored, bool) {
	var s stored
	b, err := os.ReadFile(c.indexFile(module))
	if err != nil || json.Unmarshal(b, &s) != nil || s.File != filepath.Base(s.File) || strings.HasPrefix(s.File, ".") {
		return stored{}, false
	}
	return s, true
}

// purge deletes a module's code and reports whether there was any.
func (c *cache) purge(module [32]byte) bool {
	s, ok := c.lookup(module)
	if !ok {
		return false
	}
	_ = os.Remove(filepath.Join(c.entries, s.File))
	_ = os.Remove(c.indexFile(module))
	return true
}

const compilingPrefix = "compiling-"

// abandoned is the age from which a directory to compile into has no owner.
const abandoned = time.Hour

// sweep removes what compilers left behind whose process died.
func (c *cache) sweep() {
	left, _ := filepath.Glob(filepath.Join(c.root, compilingPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(dir)
		}
	}
}

func (c *cache) indexFile(module [32]byte) string {
	return filepath.Join(c.index, hex.EncodeToString(module[:]))
}

// rewritten returns what the pre-pass once wrote, without the module itself, or nil.
func (c *cache) rewritten(key [32]byte) *rewritten {
	s, err := c.description(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name := c.moduleFile(key)
	re := &rewritten{facts: s.Facts}
	if err == nil {
		re.skeleton, err = readWhole(name + endingSkeleton)
	}
	if err != nil || !s.hash(&re.hash) || fileOf(re.skeleton.b) != s.Skeleton || !isSize(name+endingModule, s.Whole.Size) {
		c.log.Warn("a damaged module in the compile cache is written anew", "module", name)
		re.close()
		return nil
	}
	return re
}

// description is what the cache says of a module.
func (c *cache) description(key [32]byte) (s storedModule, err error) {
	text, err := os.ReadFile(c.moduleFile(key) + endingStored)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

func (s *storedModule) hash(to *[32]byte) bool {
	b, err := hex.DecodeString(s.Hash)
	return err == nil && copy(to[:], b) == len(to)
}

func isSize(file string, size int64) bool {
	info, err := os.Stat(file)
	return err == nil && info.Size() == size
}

var errLost = abi.Errorf(abi.CodeLoad, "the module is gone from the compile cache, or damaged there like its code; load it again")

// whole returns the module that the pre-pass once wrote.
func (c *cache) whole(key [32]byte) (buffer, error) {
	b, err := readWhole(c.moduleFile(key) + endingModule)
	if err == nil {
		var s storedModule
		if s, err = c.description(key); err == nil && fileOf(b.b) == s.Whole {
			return b, nil
		}
	}
	b.close()
	return buffer{}, errLost
}

func (c *cache) moduleFile(key [32]byte) string {
	return filepath.Join(c.modules, hex.EncodeToString(key[:]))
}

// readWhole reads a file, a large one into memory that is borrowed and to be given
// back, also where there is an error.
func readWhole(name string) (b buffer, err error) {
	f, err := os.Open(name)
	if err != nil {
		return buffer{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return buffer{}, err
	}
	b = newBuffer(int(info.Size()))
	b.b = b.b[:info.Size()]
	_, err = io.ReadFull(f, b.b)
	return b, err
}

// keepRewritten keeps what the pre-pass wrote. The description goes last, so
// that what it describes is there.
func (c *cache) keepRewritten(key [32]byte, re *rewritten) {
	text, err := json.Marshal(storedModule{
		Skeleton: fileOf(re.skeleton.b), Whole: fileOf(re.wasm.b),
		Hash: hex.EncodeToString(re.hash[:]), Facts: re.facts,
	})
	name := c.moduleFile(key)
	if err == nil {
		err = atomicfile.Write(name+endingModule, re.wasm.b, 0o600)
	}
	if err == nil {
		err = atomicfile.Write(name+endingSkeleton, re.skeleton.b, 0o600)
	}
	if err == nil {
		err = atomicfile.Write(name+endingStored, text, 0o600)
	}
	if err != nil {
		c.log.Warn("the compile cache could not keep a module", "reason", err)
	}
}
