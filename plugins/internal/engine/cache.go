package engine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// cache keeps compiled modules between processes, each in a directory of its own:
// the module as the pre-pass wrote it, the files that wazero's cache made of it, and
// a description with a checksum of each. What the files of wazero's cache are called and
// hold is wazero's affair; they go back to it under the names they had.
//
// They hold native code that will be run, so the directory must be the user's own and
// closed to others; one that is not is done without. What is damaged is deleted, and the
// module compiled again: wazero itself checks less, and takes a damaged entry for a
// broken module.
type cache struct {
	root string
	log  *slog.Logger

	// wazero looks into the directory shown, which holds the files of one module,
	// while that is loaded.
	wazero wazero.CompilationCache
	mu     sync.Mutex
	shown  string
}

// stored is the description of a module in the cache.
type stored struct {
	Module storedFile            `json:"module"`
	Code   map[string]storedFile `json:"code"` // by their paths
	Facts  prepass.Facts         `json:"facts"`
}

type storedFile struct {
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

// What the directory of a module holds.
const (
	moduleFile = "module.wasm"
	storedJSON = "module.json"
	codeDir    = "code"
)

// touched is how often a module in use is marked as used.
const touched = 24 * time.Hour

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openCache opens the cache in dir, or returns nil where there is none to be
// had. An unusable cache costs time, never a call.
func openCache(dir string, log *slog.Logger) *cache {
	if dir == "" {
		return nil
	}
	settleVersion()
	c := &cache{log: log}
	c.root = filepath.Join(dir, "wazero-"+engineVersion()+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	for _, d := range []string{dir, c.root} {
		if err := privatedir.Make(d); err != nil {
			log.Warn("compiling without a cache", "dir", d, "reason", err)
			return nil
		}
	}
	var err error
	if c.shown, err = c.temporary(); err == nil {
		c.wazero, err = wazero.NewCompilationCacheWithDir(c.shown)
	}
	if err != nil {
		c.discard(c.shown)
		log.Warn("compiling without a cache", "dir", c.root, "reason", err)
		return nil
	}
	return c
}

// close frees the code that was loaded.
func (c *cache) close(ctx context.Context) error {
	c.discard(c.shown) // which is there as long as nothing was loaded
	return c.wazero.Close(ctx)
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

// dir is the directory of a module.
func (c *cache) dir(key [32]byte) string { return filepath.Join(c.root, hex.EncodeToString(key[:])) }

// known returns a module that the cache holds, or nil. What is damaged is deleted.
func (c *cache) known(key [32]byte) *rewritten {
	re, err := c.read(c.dir(key))
	if err == nil {
		return re
	}
	if !errors.Is(err, errAbsent) {
		c.log.Warn("a damaged entry of the compile cache was deleted; the module is compiled again", "entry", hex.EncodeToString(key[:]), "reason", err)
		c.purge(key)
	}
	return nil
}

var (
	errAbsent  = errors.New("it is not there")
	errDamaged = errors.New("it is not what was put there")
)

// read reads the module in dir and checks all that belongs to it.
func (c *cache) read(dir string) (*rewritten, error) {
	// The directory first: it may come whole at any moment.
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errAbsent
	}
	if err == nil && time.Since(info.ModTime()) > touched {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // at worst it is forgotten too early
	}
	text, err := os.ReadFile(filepath.Join(dir, storedJSON))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errDamaged
	}
	var s stored
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, err
	}
	for name, want := range s.Code {
		file := filepath.Join(dir, codeDir, name)
		if found, err := measure(file); err != nil || found != want || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s: %w", name, errors.Join(errDamaged, err))
		}
	}
	re := &rewritten{facts: s.Facts}
	for name := range s.Code {
		re.code = append(re.code, name)
	}
	re.wasm, err = readWhole(filepath.Join(dir, moduleFile))
	if err == nil && describe(re.wasm.b) != s.Module {
		err = fmt.Errorf("%s: %w", moduleFile, errDamaged)
	}
	if err != nil {
		re.close()
		return nil, err
	}
	return re, nil
}

func describe(b []byte) storedFile {
	return storedFile{int64(len(b)), crc32.Checksum(b, castagnoli)}
}

// measure describes a file.
func measure(file string) (storedFile, error) {
	f, err := os.Open(file)
	if err != nil {
		return storedFile{}, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	size, err := io.Copy(sum, f)
	return storedFile{size, sum.Sum32()}, err
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

// purge deletes a module. Its directory gets another name first: nobody finds half of
// it, and another process can put the module there meanwhile.
func (c *cache) purge(key [32]byte) {
	dir, err := c.temporary()
	if err == nil {
		defer c.discard(dir)
		err = os.Rename(c.dir(key), filepath.Join(dir, "purged"))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.undeleted(err)
	}
}

var errNoCode = errors.New("the compiled module is not in the cache; its compiler may be for another processor or engine version, or the cache was emptied meanwhile")

// load has a runtime take a module's code from the cache. It compiles none: among
// several workers, and only there, wazero's compiler looks at the context, which is over
// from the start. (Its interpreter, which it takes to by itself where memory cannot be
// made executable, needs no code and looks at neither.)
func (c *cache) load(ctx context.Context, r wazero.Runtime, key [32]byte, re *rewritten) (wazero.CompiledModule, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.discard(c.shown)
	for _, name := range re.code {
		if err := show(filepath.Join(c.dir(key), codeDir, name), filepath.Join(c.shown, name)); err != nil {
			return nil, err
		}
	}
	over, end := context.WithCancelCause(experimental.WithCompilationWorkers(ctx, 2))
	end(errNoCode)
	return compileModule(over, r, re.wasm.b)
}

// show gives a file another name, or copies it where the system has no links.
func show(file, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if os.Link(file, name) == nil {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = copyTo(name, in)
	return err
}

// copyTo copies what there is to read to a new file, and describes it.
func copyTo(name string, in io.Reader) (storedFile, error) {
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return storedFile{}, err
	}
	sum := crc32.New(castagnoli)
	size, err := io.Copy(io.MultiWriter(out, sum), in)
	return storedFile{size, sum.Sum32()}, errors.Join(err, out.Close())
}

const temporaryPrefix = "temporary-"

// abandoned is the age from which a temporary directory has no owner.
const abandoned = time.Hour

// temporary makes a directory in the cache.
func (c *cache) temporary() (string, error) { return os.MkdirTemp(c.root, temporaryPrefix) }

// discard deletes a directory.
func (c *cache) discard(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		c.undeleted(err)
	}
}

func (c *cache) undeleted(err error) {
	c.log.Warn("a directory of the compile cache could not be deleted", "reason", err)
}

// sweep removes what was left behind by processes that died.
func (c *cache) sweep() {
	left, _ := filepath.Glob(filepath.Join(c.root, temporaryPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(dir)
		}
	}
}
