package caches

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/internal/privatedir"
)

// Options say whose caches they are, and where layers lie.
type Options struct {
	// Root is the directory that holds the layers of all projects, absolute. It is made
	// private to the user.
	Root string
	// Home is the user's home.
	Home string
	// Environ is the user's environment, which tells where the caches lie.
	Environ []string
}

// Request is what a command asks of a layer.
type Request struct {
	// Project is the directory that the layer is for, as it really lies.
	Project string
	// Open are directories that the command may write in anyway. A cache that lies in one of
	// them has no layer.
	Open []string
	// Environment is that of the command.
	Environment []string
	// Offline says that the command has no network.
	Offline bool
}

// Layer is what one project has in the place of the user's caches.
type Layer struct {
	// Dir holds it all.
	Dir string
	// Environment are the settings, NAME=value, that have tools use it.
	Environment []string
}

// touched is how often a layer in use is marked as used.
const touched = time.Hour

// Open makes a project's layer, or what is missing of it.
func (o Options) Open(r Request) (Layer, error) {
	l := Layer{Dir: o.Dir(r.Project)}
	for _, dir := range []string{o.Root, l.Dir} {
		if err := makePrivate(dir); err != nil {
			return Layer{}, err
		}
	}
	if info, err := os.Lstat(l.Dir); err == nil && time.Since(info.ModTime()) > touched {
		now := time.Now()
		_ = os.Chtimes(l.Dir, now, now) // at worst it is swept too early
	}
	// Commands write in the layer: nothing is followed out of it.
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return Layer{}, err
	}
	defer func() { _ = root.Close() }() // it was only a way to its files
	for i := range Table {
		o.add(&Table[i], &r, &l, root)
	}
	return l, nil
}

// Dir is where a project's layer lies.
func (o Options) Dir(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(o.Root, hex.EncodeToString(sum[:layerName/2]))
}

func makePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	return privatedir.Make(dir)
}

// add adds a cache to a layer.
func (o Options) add(c *Cache, r *Request, l *Layer, root *os.Root) {
	lower, named := o.lies(c)
	if lower == "" {
		return
	}
	if slices.ContainsFunc(r.Open, func(dir string) bool { return within(really(lower), dir) }) {
		if named { // the command may not have been told
			l.Environment = append(l.Environment, c.Variable+"="+lower)
		}
		return
	}
	if c.Unless != "" {
		if _, err := os.Lstat(filepath.Join(r.Project, c.Unless)); err == nil {
			return
		}
	}
	dir := filepath.Join(l.Dir, filepath.FromSlash(c.Dir))
	if c.Variable != "" {
		l.Environment = append(l.Environment, c.Variable+"="+dir)
	}
	if c.fill != nil {
		c.fill(&filling{Options: o, request: r, layer: l, root: root, lower: lower, dir: dir, name: c.Dir})
	}
}

// lies is where the user's cache lies; empty if that is not known. Named says that the
// variable tells it.
func (o Options) lies(c *Cache) (lower string, named bool) {
	if c.Variable != "" {
		if dir := lookup(o.Environ, c.Variable); filepath.IsAbs(dir) {
			return filepath.Clean(dir), true
		}
	}
	if c.Variable == "GOMODCACHE" {
		if path := filepath.SplitList(lookup(o.Environ, "GOPATH")); len(path) > 0 && filepath.IsAbs(path[0]) {
			return filepath.Join(path[0], "pkg", "mod"), false
		}
	}
	if o.Home == "" {
		return "", false
	}
	if rest, ok := strings.CutPrefix(c.Default, "~/"); ok {
		return filepath.Join(o.Home, rest), false
	}
	return filepath.Join(o.userCaches(), strings.TrimPrefix(c.Default, "cache/")), false
}

// lookup is the value of a variable; the last of several counts.
func lookup(environ []string, name string) string {
	for _, setting := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// really is a path with its links resolved, as far as it exists.
func really(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if lies, err := filepath.EvalSymlinks(at); err == nil || at == filepath.Dir(at) {
			return filepath.Join(lies, rest)
		}
	}
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
