package plugins

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// Origin says where a plugin was found.
type Origin = discovery.Origin

// The origins, in the order in which their plugins are listed and in which they
// take names: a plugin named for this run shadows the user's of the same name, and
// that one the project's.
const (
	// OriginBuiltin plugins come with the host. They need no grant, and their
	// tools' names are theirs.
	OriginBuiltin = discovery.OriginBuiltin
	// OriginFlag plugins were named for this run.
	OriginFlag = discovery.OriginFlag
	// OriginUser plugins lie in the user's own plugin directory.
	OriginUser = discovery.OriginUser
	// OriginProject plugins lie in a project that the user trusts.
	OriginProject = discovery.OriginProject
)

// rank is an origin's place in the order of listing.
func rank(o Origin) int {
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

	dir     string             // on disk, absolute; else empty
	file    string             // the one entry that counts; else empty
	program *discovery.Program // that it is a part of; else nil
}

// place is the source as a place to look through.
func (s Source) place() discovery.Place {
	return discovery.Place{Origin: s.Origin, Path: s.Path, FS: s.FS, Dir: s.dir, File: s.file, Program: s.program}
}

// Dir is a directory on disk as a source. It may hold plugins or be one. It may also
// name a single .wasm file: a module that carries its manifest, or the module of the
// plugin.toml beside it. A directory that does not exist is an empty source, except
// from OriginFlag: that one somebody asked for by name.
func Dir(origin Origin, dir string) Source {
	s := Source{Origin: origin, Path: dir}
	if strings.HasSuffix(dir, discovery.ModuleSuffix) && !isDirectory(dir) {
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

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Program is a source within the running program, which package embed made. What was
// read of it once holds for as long as the program's file stays as it is: later
// processes need not read its manifests. Path is its name for people.
func Program(origin Origin, path string, files fs.FS) Source {
	if file, ok := discovery.Executable(); ok {
		return within(file, origin, path, files)
	}
	return Source{Origin: origin, Path: path, FS: files}
}

func within(program *discovery.Program, origin Origin, path string, files fs.FS) Source {
	return Source{Origin: origin, Path: path, FS: program.Files(files), program: program}
}
