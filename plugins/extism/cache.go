package extism

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// cache holds the compiled code of one module and of the SDK's kernel. Every
// loaded module has one of its own, because the SDK never gives code back to a
// cache: closing it with the module is what frees the code.
//
// On disk it is a directory named after the module's hash, with a list of the
// checksums of what is in it. It holds native code that will be run, so it must
// be the user's own and closed to others. wazero itself names entries by engine
// version and processor; it checks the code it reads back, but not the tables
// beside it.
type cache struct {
	wazero wazero.CompilationCache
	dir    string // "" if it is in memory only
	sums   map[string]checksum
	log    *slog.Logger
}

type checksum struct {
	Size int    `json:"size"`
	CRC  uint32 `json:"crc32c"`
}

const sumsFile = "sums.json"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openCache opens the cache of a module. An unusable directory costs time,
// never a call.
func openCache(dir string, module [32]byte, log *slog.Logger) *cache {
	c := &cache{log: log}
	if dir == "" {
		c.wazero = wazero.NewCompilationCache()
		return c
	}
	root := filepath.Join(dir, "extism")
	own := filepath.Join(root, hex.EncodeToString(module[:]))
	err := error(nil)
	for _, d := range []string{dir, root, own} {
		if err = privatedir.Make(d); err != nil {
			break
		}
	}
	if err == nil {
		c.dir = own
		c.verify()
		c.wazero, err = wazero.NewCompilationCacheWithDir(own)
	}
	if err != nil {
		log.Warn("compiling without a cache", "dir", own, "reason", err)
		c.dir, c.wazero = "", wazero.NewCompilationCache()
	}
	return c
}

// used reports whether anything may have come from disk.
func (c *cache) used() bool { return c.dir != "" }

// close frees the code. A cache on disk has nothing left to write by then, so
// that failing costs nothing but a line in the log.
func (c *cache) close(ctx context.Context) {
	if err := c.wazero.Close(ctx); err != nil {
		c.log.Warn("the compile cache could not be closed", "dir", c.dir, "reason", err)
	}
}

func (c *cache) purge() {
	if err := os.RemoveAll(c.dir); err != nil {
		c.log.Warn("the compile cache could not be cleared", "dir", c.dir, "reason", err)
	}
}

// verify deletes everything unless it is just what seal left.
func (c *cache) verify() {
	var known map[string]checksum
	text, err := os.ReadFile(filepath.Join(c.dir, sumsFile))
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	found, walked := c.checksums()
	if err = errors.Join(err, walked); err == nil && maps.Equal(found, known) {
		c.sums = found
		return
	}
	c.log.Warn("a damaged or unfinished entry of the compile cache was deleted", "dir", c.dir)
	c.purge()
	if err := privatedir.Make(c.dir); err != nil {
		c.log.Warn("the compile cache could not be made again", "dir", c.dir, "reason", err)
	}
}

// seal notes what is in the directory, where that changed.
func (c *cache) seal() {
	if c.dir == "" || c.unchanged() {
		return
	}
	found, err := c.checksums()
	var text []byte
	if err == nil {
		text, err = json.Marshal(found)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(c.dir, sumsFile), text, 0o600)
	}
	if err != nil {
		c.log.Warn("the compile cache could not be sealed", "dir", c.dir, "reason", err)
	}
}

// unchanged reports whether the files are those that verify vouched for. Engine
// versions and processors each add their own.
func (c *cache) unchanged() bool {
	known := 0
	err := c.each(func(rel, _ string) error {
		if _, ok := c.sums[rel]; !ok {
			return fs.ErrNotExist
		}
		known++
		return nil
	})
	return err == nil && known == len(c.sums)
}

func (c *cache) checksums() (map[string]checksum, error) {
	sums := make(map[string]checksum)
	err := c.each(func(rel, path string) error {
		content, err := os.ReadFile(path)
		sums[rel] = checksum{Size: len(content), CRC: crc32.Checksum(content, castagnoli)}
		return err
	})
	return sums, err
}

// each visits wazero's files.
func (c *cache) each(visit func(rel, path string) error) error {
	return filepath.WalkDir(c.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == sumsFile {
			return err
		}
		rel, err := filepath.Rel(c.dir, path)
		if err != nil {
			return err
		}
		return visit(rel, path)
	})
}
