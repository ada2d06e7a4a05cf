package retention

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host/internal/shell/caches"
)

// What lies in the cache of compiled plugins; see plugins/internal.
const (
	enginePrefix    = "wazero-"
	isolatedPrefix  = "isolated-" // caches of their own, of one isolated plugin each
	temporaryPrefix = "temporary-"
	indexesDir      = "discovered"
	hexDigits       = "0123456789abcdef"
)

func isHex(name string, digits int) bool {
	return len(name) == digits && strings.Trim(name, hexDigits) == ""
}

func findCaches(c *cleaner) {
	c.eachIn("caches", c.Compiled, func(root *os.Root, entry fs.DirEntry) {
		switch name := entry.Name(); {
		case entry.IsDir() && strings.HasPrefix(name, enginePrefix):
			c.findIn(root, c.Compiled, name, 64)
		case entry.IsDir() && name == indexesDir:
			c.findIn(root, c.Compiled, name, 32)
		case entry.IsDir() && isHex(strings.TrimPrefix(name, isolatedPrefix), 64), entry.IsDir() && strings.HasPrefix(name, temporaryPrefix):
			c.addCache(root, c.Compiled, name, strings.HasPrefix(name, temporaryPrefix))
		default:
			c.foreign("caches", filepath.Join(c.Compiled, name), "it is no cache of compiled plugins")
		}
	})
	c.eachIn("caches", c.Layers, func(root *os.Root, entry fs.DirEntry) {
		if entry.IsDir() && caches.IsLayer(entry.Name()) {
			c.addCache(root, c.Layers, entry.Name(), strings.HasPrefix(entry.Name(), "removed-"))
		} else {
			c.foreign("caches", filepath.Join(c.Layers, entry.Name()), "it is no cache of commands")
		}
	})
}

// findIn finds the entries of one cache of compiled plugins.
func (c *cleaner) findIn(root *os.Root, place, dir string, digits int) {
	entries, err := fs.ReadDir(root.FS(), dir)
	c.failed("caches", filepath.Join(place, dir), err)
	for _, entry := range entries {
		name := entry.Name()
		if left := strings.HasPrefix(name, temporaryPrefix); entry.Type()&fs.ModeSymlink == 0 && (left || isHex(name, digits)) {
			c.addCache(root, place, filepath.Join(dir, name), left)
		} else {
			c.foreign("caches", filepath.Join(place, dir, name), "it is no compiled plugin")
		}
	}
}

// addCache adds one entry. What was left half done goes once nobody can be doing it.
func (c *cleaner) addCache(root *os.Root, place, name string, left bool) {
	info, err := root.Lstat(name)
	if err != nil {
		return // it was removed meanwhile
	}
	it := Item{Area: "caches", Name: name, Path: filepath.Join(place, name), Used: info.ModTime()}
	if strings.HasPrefix(name, isolatedPrefix) {
		walk(root, name, func(_ string, info fs.FileInfo) {
			if info.ModTime().After(it.Used) {
				it.Used = info.ModTime()
			}
		})
	}
	if c.judge(&it, c.keepFor("caches")); left && it.State == Kept && c.now.Sub(it.Used) >= recent {
		it.State, it.Why = Leftover, "a process that was killed left it"
	}
	if c.Max > 0 || c.Thorough {
		it.Bytes = sizeOf(root, name)
	}
	c.add(it)
}

// eachIn goes through what lies in a place.
func (c *cleaner) eachIn(area, place string, do func(*os.Root, fs.DirEntry)) {
	if place == "" {
		return
	}
	if err := isDir(place); err != nil {
		c.failed(area, place, err)
		return
	}
	root, err := os.OpenRoot(place)
	if err != nil {
		c.failed(area, place, err)
		return
	}
	defer func() { _ = root.Close() }() // it was only a way to its files
	entries, err := fs.ReadDir(root.FS(), ".")
	c.failed(area, place, err)
	for _, entry := range entries {
		if c.ctx.Err() != nil {
			return
		}
		if entry.Name() != stampName {
			do(root, entry)
		}
	}
}

func removeCache(c *cleaner, it *Item) error {
	if c.Layers != "" && filepath.Dir(it.Path) == filepath.Clean(c.Layers) {
		return caches.Remove(c.Layers, it.Name)
	}
	dir, name := filepath.Split(it.Path)
	if strings.HasPrefix(name, temporaryPrefix) || filepath.Base(dir) == indexesDir {
		return os.RemoveAll(it.Path)
	}
	// Nobody finds half of it, and another process can put it there meanwhile.
	aside, err := os.MkdirTemp(dir, temporaryPrefix)
	if err != nil {
		return err
	}
	err = os.Rename(it.Path, filepath.Join(aside, "purged"))
	if removed := os.RemoveAll(aside); err == nil {
		err = removed
	}
	return err
}
