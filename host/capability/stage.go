package capability

import (
	"context"
	"time"
)

// Stage holds what a session writes until a person applies it: reads see what is
// staged, and the disk stays as it is. Changes are named by their real paths. It is safe
// for concurrent use. An error means that the stage cannot be read: then the disk must not
// be read in its place.
type Stage interface {
	// Lookup returns what is staged for a path. False means that nothing is, so the disk counts.
	Lookup(path string) (Staged, bool, error)
	// Children returns what is staged directly in a directory, sorted by name. Below returns
	// everything that is staged below it, each directory before its entries.
	Children(dir string) ([]Staged, error)
	Below(dir string) ([]Staged, error)
	// Shaped reports whether more than new file content may be staged: links, or files and
	// directories that were removed or replaced. Then a path must be resolved component by
	// component.
	Shaped() (bool, error)
	// Place names a file, that nothing has yet, to write new content to.
	Place() (string, error)
	// Put stages content that lies at a place. Where it fails the place is taken away:
	// [abi.CodeChanged] says that what is staged is not what was expected.
	Put(ctx context.Context, w StagedWrite) error
}

// Staged is what is staged for one path.
type Staged struct {
	// Path is the real path, and Place is where the staged file, directory or link is stored;
	// empty for a removal.
	Path, Place string
	// Kind is one of the kinds of package abi, such as [abi.KindFile]; empty for a removal.
	Kind string
	// Target is the target of a symbolic link.
	Target string
	// Opaque says that a directory hides the entries that it has on the disk.
	Opaque bool
	// Version identifies the content of a file.
	Version string
	// Time is when it was staged last.
	Time time.Time
}

// Removed reports whether the path is removed.
func (s *Staged) Removed() bool { return s.Kind == "" }

// StagedWrite is content that is to be staged.
type StagedWrite struct {
	Call Call
	Path string
	// Place is where the content lies, Hash its SHA-256 and Size its length in bytes.
	Place string
	Hash  [32]byte
	Size  int64
	// Was is the version of the staged content that this one replaces; empty if no file was
	// staged.
	Was string
	// Base is the file on the disk, where nothing was staged; nil is no file.
	Base *StagedBase
}

// StagedBase is what a file on the disk was when it was first staged.
type StagedBase struct {
	// Hash is its SHA-256 and Size its length in bytes; Mode are its permission bits.
	Hash [32]byte
	Size int64
	Mode uint32
}
