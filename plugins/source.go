package plugins

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

const (
	// maxManifest is the largest plugin.toml in bytes.
	maxManifest = 1 << 20
	// maxModule is the largest module in bytes.
	maxModule = 64 << 20
	// maxEntries is how many entries a plugin directory may have.
	maxEntries = 10_000
)

// Origin says where a plugin was found.
type Origin string

// The origins, in the order in which their plugins are listed.
const (
	// OriginBuiltin plugins come with the host. They need no consent, and their
	// tools' names are theirs.
	OriginBuiltin Origin = "builtin"
	// OriginUser plugins lie in the user's own plugin directory.
	OriginUser Origin = "user"
	// OriginProject plugins lie in a project that the user trusts.
	OriginProject Origin = "project"
	// OriginFlag plugins lie in a directory named for this run.
	OriginFlag Origin = "flag"
)

// rank is the origin's place in the order of listing.
func (o Origin) rank() int {
	return slices.Index([]Origin{OriginBuiltin, OriginUser, OriginProject, OriginFlag}, o)
}

// Source is a place to look for plugins.
type Source struct {
	Origin Origin
	// Path is the place's name for people.
	Path string
	// FS is what to look through.
	FS fs.FS
}

// Dir is a directory on disk as a source. It may hold plugins or be one. A
// directory that does not exist is an empty source, except from OriginFlag:
// that one somebody asked for by name.
func Dir(origin Origin, dir string) Source {
	return Source{Origin: origin, Path: dir, FS: os.DirFS(dir)}
}

// candidate is something that claims to be a plugin.
type candidate struct {
	origin Origin
	path   string // for people
	fs     fs.FS
	folder string // within fs, of a folder plugin
	file   string // within fs, of a single-file plugin

	// carried is the hash of the module's own sections, where the manifest was
	// read or completed from them; else zero.
	carried [sha256.Size]byte
}

// find lists the candidates of a source in the order of their names. What looks
// like a plugin and cannot be one is a candidate too: to pass over a FIFO or a
// folder without permission in silence would leave its owner guessing.
func (s Source) find() ([]candidate, error) {
	if isFolder(s.FS, ".") && isThere(s.FS, abi.ManifestFile) {
		return []candidate{{origin: s.Origin, path: s.Path, fs: s.FS, folder: "."}}, nil
	}
	entries, err := readDir(s.FS)
	if errors.Is(err, fs.ErrNotExist) && s.Origin != OriginFlag {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for plugins in %s: %w", s.Path, err)
	}
	var found []candidate
	for _, name := range entries {
		c := candidate{origin: s.Origin, path: filepath.Join(s.Path, name), fs: s.FS}
		folder := isFolder(s.FS, name)
		switch {
		case strings.HasPrefix(name, "."):
			continue
		case folder && isThere(s.FS, path.Join(name, abi.ManifestFile)):
			c.folder = name
		case !folder && strings.HasSuffix(name, ".wasm"):
			c.file = name
		default:
			continue
		}
		found = append(found, c)
	}
	return found, nil
}

func readDir(fsys fs.FS) ([]string, error) {
	dir, err := fsys.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	list, ok := dir.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("it is not a directory")
	}
	var names []string
	for {
		entries, err := list.ReadDir(maxEntries)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		switch {
		case errors.Is(err, io.EOF):
			slices.Sort(names)
			return names, nil
		case err != nil:
			return nil, err
		case len(names) > maxEntries:
			return nil, fmt.Errorf("it has more than %d entries", maxEntries)
		}
	}
}

// isFolder follows links: a user may well link a plugin into place.
func isFolder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// isThere reports whether there is something of that name, be it only something
// that may not be looked at.
func isThere(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkFile reports why a file cannot be read. It asks before anything is
// opened, because opening a FIFO waits.
func checkFile(fsys fs.FS, name string, limit int64) error {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	case info.Size() > limit:
		return overLimit(name, limit)
	}
	return nil
}

func overLimit(name string, limit int64) error {
	return fmt.Errorf("%s is over the limit of %s", name, abi.Size(limit))
}

// readFile reads a regular file of at most limit bytes.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	if err := checkFile(fsys, name, limit); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = overLimit(name, limit)
	}
	return content, err
}
