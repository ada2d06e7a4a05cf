package plugins

import (
	"bytes"
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
	// maxModule is the largest module in bytes, as the engine has it: a larger one
	// need not be read.
	maxModule = 32 << 20
	// maxEntries is how many entries a plugin directory may have.
	maxEntries = 10_000
)

// Origin says where a plugin was found.
type Origin string

// The origins, in the order in which their plugins are listed and in which they
// take names: a plugin named for this run shadows the user's of the same name, and
// that one the project's.
const (
	// OriginBuiltin plugins come with the host. They need no consent, and their
	// tools' names are theirs.
	OriginBuiltin Origin = "builtin"
	// OriginFlag plugins were named for this run.
	OriginFlag Origin = "flag"
	// OriginUser plugins lie in the user's own plugin directory.
	OriginUser Origin = "user"
	// OriginProject plugins lie in a project that the user trusts.
	OriginProject Origin = "project"
)

// rank is the origin's place in the order of listing.
func (o Origin) rank() int {
	return slices.Index([]Origin{OriginBuiltin, OriginFlag, OriginUser, OriginProject}, o)
}

// Source is a place to look for plugins.
type Source struct {
	Origin Origin
	// Path is the place's name for people.
	Path string
	// FS is what to look through.
	FS fs.FS
	// Admit, if not nil, is called each time the source is looked through. What it
	// returns says why a plugin that was found offers nothing, or nil. It is asked
	// about plugins that can be read.
	Admit func() func(*Plugin) error
	// Watched are files whose change may change what Admit returns.
	Watched []string

	dir     string       // on disk, absolute; else empty
	file    string       // the one entry that counts; else empty
	program *programFile // that it is a part of; else nil
}

// lasting is the name under which what is read of a source may be kept for other
// processes, empty where it may not.
func (s Source) lasting() string {
	if s.program != nil {
		return s.program.path + string(filepath.ListSeparator) + s.Path
	}
	return s.dir
}

// Dir is a directory on disk as a source. It may hold plugins or be one. It may also
// name a single .wasm file: a module that carries its manifest, or the module of the
// plugin.toml beside it. A directory that does not exist is an empty source, except
// from OriginFlag: that one somebody asked for by name.
func Dir(origin Origin, dir string) Source {
	s := Source{Origin: origin, Path: dir}
	if strings.HasSuffix(dir, moduleSuffix) && !isDirectory(dir) {
		dir, s.file = filepath.Split(filepath.Clean(dir))
		dir = filepath.Clean(dir)
	}
	s.FS = os.DirFS(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		s.dir = abs
	}
	return s
}

// Directory is the directory on disk that [Dir] made the source of, absolute, or
// empty.
func (s Source) Directory() string { return s.dir }

// moduleSuffix ends the names of modules.
const moduleSuffix = ".wasm"

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// candidate is something that claims to be a plugin.
type candidate struct {
	origin Origin
	path   string // for people
	fs     fs.FS
	folder string // within fs, of a folder plugin
	file   string // within fs, of a single-file plugin
	module string // of a folder plugin that was named by its module; else empty
}

// command is [Plugin.Command].
func (c candidate) command(args string) string {
	if c.origin != OriginFlag {
		return "toolquay " + args
	}
	return "toolquay --plugins '" + strings.ReplaceAll(c.path, "'", `'\''`) + "' " + args
}

// alone is the candidate that a source itself is.
func (s Source) alone() (candidate, bool) {
	if s.file != "" {
		return s.named()
	}
	is := isFolder(s.FS, ".") && isThere(s.FS, abi.ManifestFile)
	return candidate{origin: s.Origin, path: s.Path, fs: s.FS, folder: "."}, is
}

// named is the candidate of a source that is one file. A manifest in the module wins
// over one beside it. Without either it is told as a module without a manifest.
func (s Source) named() (candidate, bool) {
	c := candidate{origin: s.Origin, path: s.Path, fs: s.FS, file: s.file}
	module, _, err := readFile(s.FS, s.file, maxModule)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false
	}
	section, _ := CustomSection(module, abi.SectionManifest) // the reader of the candidate tells of faults
	if section == nil && isThere(s.FS, abi.ManifestFile) {
		c.folder, c.module, c.file = ".", s.file, ""
	}
	return c, true
}

// entries lists the names in a source, sorted, without hidden ones.
func (s Source) entries() ([]string, error) {
	if s.file != "" { // else it would be a candidate by itself
		return nil, fmt.Errorf("looking for plugins in %s: %w", s.Path, fs.ErrNotExist)
	}
	entries, err := readDir(s.FS)
	if errors.Is(err, fs.ErrNotExist) && s.Origin != OriginFlag {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for plugins in %s: %w", s.Path, err)
	}
	return slices.DeleteFunc(entries, func(name string) bool { return strings.HasPrefix(name, ".") }), nil
}

// candidate reports whether an entry is to be taken for a plugin. What looks
// like one and cannot be one is a candidate too: to pass over a FIFO or a folder
// without permission in silence would leave its owner guessing.
func (s Source) candidate(entry string) (candidate, bool) {
	c := candidate{origin: s.Origin, path: filepath.Join(s.Path, entry), fs: s.FS}
	folder := isFolder(s.FS, entry)
	switch {
	case folder && isThere(s.FS, path.Join(entry, abi.ManifestFile)):
		c.folder = entry
	case !folder && strings.HasSuffix(entry, moduleSuffix):
		c.file = entry
	default:
		return c, false
	}
	return c, true
}

func readDir(fsys fs.FS) ([]string, error) {
	dir, err := fsys.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	next, err := namesIn(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		some, err := next(maxEntries)
		names = append(names, some...)
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

// namesIn returns what reads a directory's names.
func namesIn(dir fs.File) (func(n int) ([]string, error), error) {
	switch dir := dir.(type) {
	case interface{ Readdirnames(n int) ([]string, error) }: // which asks for no more
		return dir.Readdirnames, nil
	case fs.ReadDirFile:
		return func(n int) ([]string, error) {
			entries, err := dir.ReadDir(n)
			names := make([]string, len(entries))
			for i, e := range entries {
				names[i] = e.Name()
			}
			return names, err
		}, nil
	}
	return nil, errors.New("it is not a directory")
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

// checkFile reports why a file cannot be read, or its stamp. It asks before
// anything is opened, because opening a FIFO waits.
func checkFile(fsys fs.FS, name string, limit int64) (stamp, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return stamp{}, err
	case !info.Mode().IsRegular():
		return stamp{}, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > limit:
		return stamp{}, overLimit(name, limit)
	}
	return stampOf(info), nil
}

func overLimit(name string, limit int64) error {
	return fmt.Errorf("%s is over the limit of %s", name, abi.Size(limit))
}

// readFile reads a regular file of at most limit bytes that nobody changes
// meanwhile, and its stamp.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, stamp, error) {
	if _, err := checkFile(fsys, name, limit); err != nil {
		return nil, stamp{}, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, stamp{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	before, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	content, err := readAll(f, min(before.Size(), limit), limit)
	if err != nil {
		return nil, stamp{}, err
	}
	if int64(len(content)) > limit {
		return nil, stamp{}, overLimit(name, limit)
	}
	after, err := f.Stat()
	if err == nil && stampOf(after) != stampOf(before) {
		err = fmt.Errorf("%s was changed while it was read; try again", name)
	}
	return content, stampOf(before), err
}

// readAll reads to the end, or one byte past limit, of what is about size long.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(r, limit+1))
	return b.Bytes(), err
}
