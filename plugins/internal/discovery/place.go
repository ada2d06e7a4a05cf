package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/manifest"
)

// Origin says where a plugin was found.
type Origin string

// The origins. See package plugins.
const (
	OriginBuiltin Origin = "builtin"
	OriginFlag    Origin = "flag"
	OriginUser    Origin = "user"
	OriginProject Origin = "project"
)

// ModuleSuffix ends the names of modules.
const ModuleSuffix = ".wasm"

// Place is where plugins are looked for.
type Place struct {
	Origin Origin
	// Path is the place's name for people.
	Path string
	FS   fs.FS
	// Dir is the directory on disk, absolute; else empty.
	Dir string
	// File is the one entry that counts; else empty.
	File string
	// Program is the program that it is a part of; else nil.
	Program *Program
}

// Lasting is the name under which what is read of a place may be kept for other
// processes, empty where it may not.
func (p Place) Lasting() string {
	if p.Program != nil {
		return p.Program.Path + string(filepath.ListSeparator) + p.Path
	}
	return p.Dir
}

// Alone is the candidate that a place itself is.
func (p Place) Alone() (Candidate, bool) {
	if p.File != "" {
		return p.named()
	}
	is := isFolder(p.FS, ".") && isThere(p.FS, abi.ManifestFile)
	return Candidate{Origin: p.Origin, Path: p.Path, fs: p.FS, Folder: "."}, is
}

// named is the candidate of a place that is one file. A manifest in the module wins
// over one beside it. Without either, reading the candidate says that the module has no
// manifest.
func (p Place) named() (Candidate, bool) {
	c := Candidate{Origin: p.Origin, Path: p.Path, fs: p.FS, File: p.File}
	module, _, err := readFile(p.FS, p.File, MaxModule)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false
	}
	section, _ := manifest.Section(module, abi.SectionManifest) // the reader of the candidate tells of faults
	if section == nil && isThere(p.FS, abi.ManifestFile) {
		c.Folder, c.module, c.File = ".", p.File, ""
	}
	return c, true
}

// Recall is the candidate that a record is of.
func (p Place) Recall(r *Finding, path string) Candidate {
	c := Candidate{Origin: p.Origin, Path: path, fs: p.FS}
	if r.Single {
		c.File = r.Entry
	} else {
		c.Folder = r.Entry
	}
	return c
}

// Entries lists the names in a place, sorted, without hidden ones.
func (p Place) Entries() ([]string, error) {
	if p.File != "" { // else it would be a candidate by itself
		return nil, fmt.Errorf("looking for plugins in %s: %w", p.Path, fs.ErrNotExist)
	}
	entries, err := readDir(p.FS)
	if errors.Is(err, fs.ErrNotExist) && p.Origin != OriginFlag {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for plugins in %s: %w", p.Path, err)
	}
	return slices.DeleteFunc(entries, func(name string) bool { return strings.HasPrefix(name, ".") }), nil
}

// Candidate reports whether an entry looks like a plugin. One that cannot be read, such as
// a FIFO, is a candidate too, so that its owner hears of it.
func (p Place) Candidate(entry string) (Candidate, bool) {
	c := Candidate{Origin: p.Origin, Path: filepath.Join(p.Path, entry), fs: p.FS}
	folder := isFolder(p.FS, entry)
	switch {
	case folder && isThere(p.FS, path.Join(entry, abi.ManifestFile)):
		c.Folder = entry
	case !folder && strings.HasSuffix(entry, ModuleSuffix):
		c.File = entry
	default:
		return c, false
	}
	return c, true
}
