package engine

import (
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

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

// stored is what the index says of a file.
type stored struct {
	File string `json:"file"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

// storedModule is what the cache says of a rewritten module.
type storedModule struct {
	Size  int           `json:"size"`
	Sum   uint32        `json:"crc32c"`
	Hash  string        `json:"sha256"`
	Facts prepass.Facts `json:"facts"`
}

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

// measure reads a file through, in pieces: memory for the whole of it would cost
// a short process more than the check does.
func measure(file string) (stored, error) {
	f, err := os.Open(file)
	if err != nil {
		return stored{}, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	size, err := io.Copy(sum, f)
	return stored{File: filepath.Base(file), Size: size, Sum: sum.Sum32()}, err
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

// rewritten returns what the pre-pass once wrote, or nil.
func (c *cache) rewritten(key [32]byte) *rewritten {
	name := filepath.Join(c.modules, hex.EncodeToString(key[:]))
	text, err := os.ReadFile(name + ".json")
	if err != nil {
		return nil
	}
	var s storedModule
	re := &rewritten{}
	hash := []byte(nil)
	if err = json.Unmarshal(text, &s); err == nil {
		hash, err = hex.DecodeString(s.Hash)
	}
	if err == nil {
		re.wasm, re.back, err = readWhole(name + ".wasm")
	}
	if err != nil || len(hash) != 32 || len(re.wasm) != s.Size || crc32.Checksum(re.wasm, castagnoli) != s.Sum {
		c.log.Warn("a damaged module in the compile cache is written anew", "module", name)
		re.close()
		return nil
	}
	re.facts, re.hash = s.Facts, [32]byte(hash)
	return re
}

// readWhole reads a file, a large one into memory that is borrowed and to be given
// back, also where there is an error.
func readWhole(name string) (b []byte, back func(), err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if size := info.Size(); size > muchGarbage && size <= math.MaxInt32 {
		b, back = borrow(int(size))
	}
	if back == nil {
		b = make([]byte, info.Size())
	}
	_, err = io.ReadFull(f, b)
	return b, back, err
}

// keepRewritten keeps what the pre-pass wrote. The description goes last, so
// that what it describes is there.
func (c *cache) keepRewritten(key [32]byte, re *rewritten) {
	text, err := json.Marshal(storedModule{
		Size: len(re.wasm), Sum: crc32.Checksum(re.wasm, castagnoli),
		Hash: hex.EncodeToString(re.hash[:]), Facts: re.facts,
	})
	name := filepath.Join(c.modules, hex.EncodeToString(key[:]))
	if err == nil {
		err = atomicfile.Write(name+".wasm", re.wasm, 0o600)
	}
	if err == nil {
		err = atomicfile.Write(name+".json", text, 0o600)
	}
	if err != nil {
		c.log.Warn("the compile cache could not keep a module", "reason", err)
	}
}
