package direct

import (
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// cache keeps compiled code between processes. What it holds is native code
// that will be run, so its directory must be the user's own and closed to
// others; one that is not is done without.
//
// wazero names its entries by a hash of module, engine version and processor.
// It checks the code it reads back, but not the tables beside it, and takes a
// damaged entry for a broken module. So an index beside the entries says which
// one belongs to which module, and what its checksum is; an entry that does not
// fit is deleted and compiled again.
type cache struct {
	wazero wazero.CompilationCache
	dir    string // wazero's entries
	index  string
	log    *slog.Logger

	// cold is held while a module the index does not know is compiled.
	cold sync.Mutex
}

type indexEntry struct {
	File string `json:"file"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openCache opens the cache in dir, or returns nil where there is none to be
// had. An unusable cache costs time, never a call.
func openCache(dir string, log *slog.Logger) *cache {
	if dir == "" {
		return nil
	}
	root := filepath.Join(dir, "wazero-"+engineVersion()+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	index := filepath.Join(root, "index")
	for _, d := range []string{dir, root, index} {
		if err := privatedir.Make(d); err != nil {
			log.Warn("compiling without a cache", "dir", d, "reason", err)
			return nil
		}
	}
	c, err := wazero.NewCompilationCacheWithDir(root)
	if err != nil {
		log.Warn("compiling without a cache", "dir", root, "reason", err)
		return nil
	}
	entries, err := wazeroDir(root)
	if err != nil {
		log.Warn("compiling without a cache", "dir", root, "reason", err)
		return nil
	}
	return &cache{wazero: c, dir: entries, index: index, log: log}
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
	entries, err := os.ReadDir(root)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "wazero") {
			return filepath.Join(root, e.Name()), nil
		}
	}
	return "", os.ErrNotExist
}

// verify checks the entry of a module, deletes it where it is damaged, and
// returns what the index knows of it.
func (c *cache) verify(module [32]byte) indexEntry {
	if c == nil {
		return indexEntry{}
	}
	e := c.lookup(module)
	if e.File == "" {
		return e
	}
	found, err := c.measure(e.File)
	if err == nil && found == e {
		return e
	}
	if err == nil {
		c.log.Warn("a damaged entry of the compile cache was deleted; the module is compiled again", "entry", e.File)
	}
	c.purge(e)
	_ = os.Remove(c.indexFile(module))
	return indexEntry{}
}

// measure reads an entry through, in pieces: memory for the whole of it would
// cost a short process more than the check does.
func (c *cache) measure(name string) (indexEntry, error) {
	f, err := os.Open(filepath.Join(c.dir, name))
	if err != nil {
		return indexEntry{}, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	size, err := io.Copy(sum, f)
	return indexEntry{File: name, Size: size, Sum: sum.Sum32()}, err
}

func (c *cache) lookup(module [32]byte) indexEntry {
	var e indexEntry
	b, err := os.ReadFile(c.indexFile(module))
	if err != nil || json.Unmarshal(b, &e) != nil || e.File != filepath.Base(e.File) || strings.HasPrefix(e.File, ".") {
		return indexEntry{}
	}
	return e
}

// purge deletes an entry, or where its name is not known, every entry that the
// index does not vouch for. It reports whether there was anything to delete.
func (c *cache) purge(e indexEntry) bool {
	suspects := []string{e.File}
	if e.File == "" {
		suspects = c.unindexed()
	}
	for _, name := range suspects {
		_ = os.Remove(filepath.Join(c.dir, name))
	}
	return len(suspects) > 0
}

// record notes which entry holds a module that was just compiled, where verify
// did not know: the one the index does not name yet. Where there are several,
// as after a crash or beside another process, none can be told apart; they are
// deleted, and the next loads compile and record them one by one.
func (c *cache) record(module [32]byte) {
	fresh := c.unindexed()
	if len(fresh) != 1 {
		for _, name := range fresh {
			_ = os.Remove(filepath.Join(c.dir, name))
		}
		return
	}
	e, err := c.measure(fresh[0])
	if err != nil {
		return
	}
	b, err := json.Marshal(e)
	if err != nil {
		return
	}
	if err := atomicfile.Write(c.indexFile(module), b, 0o600); err != nil {
		c.log.Warn("the compile cache's index could not be written", "reason", err)
	}
}

func (c *cache) unindexed() []string {
	indexed := make(map[string]bool)
	names, _ := os.ReadDir(c.index)
	for _, n := range names {
		var e indexEntry
		if b, err := os.ReadFile(filepath.Join(c.index, n.Name())); err == nil && json.Unmarshal(b, &e) == nil {
			indexed[e.File] = true
		}
	}
	var fresh []string
	for _, name := range c.entries() {
		if !indexed[name] {
			fresh = append(fresh, name)
		}
	}
	return fresh
}

func (c *cache) entries() []string {
	files, _ := os.ReadDir(c.dir)
	var names []string
	for _, f := range files {
		if f.Type().IsRegular() && !strings.HasSuffix(f.Name(), ".tmp") {
			names = append(names, f.Name())
		}
	}
	return names
}

func (c *cache) indexFile(module [32]byte) string {
	return filepath.Join(c.index, hex.EncodeToString(module[:]))
}
