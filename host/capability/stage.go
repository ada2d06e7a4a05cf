package capability

import (
	"context"
	"time"
)

// Stage holds what a session writes until a person applies it: reads see what is
// staged, and what lies on the disk stays as it is. What is staged is named by its real
// path. It is safe for concurrent use. Errors are of a stage that cannot be read;
// then nothing may be read past it.
type Stage interface {
	// Lookup returns what is staged for a path; false is nothing, so that what lies on the
	// disk counts.
	Lookup(path string) (Staged, bool, error)
	// Children returns what is staged directly in a directory, by name, and Below all that
	// is staged below it, a directory before what is in it.
	Children(dir string) ([]Staged, error)
	Below(dir string) ([]Staged, error)
	// Shaped reports whether more than files may be staged: links, and what is removed or
	// replaced. Then a path must be walked to see where it leads.
	Shaped() (bool, error)
	// Place names a file, that nothing has yet, to write new content to.
	Place() (string, error)
	// Put stages content that lies at a place. Where it fails the place is taken away:
	// [abi.CodeChanged] says that what is staged is not what was expected.
	Put(ctx context.Context, w StagedWrite) error
}

// Staged is what is staged for one path.
type Staged struct {
	// Path is the real one, and Place is where what is staged lies: a file's content, a
	// directory or link. It is empty for what is removed.
	Path, Place string
	// Kind is one of the kinds of package abi, such as [abi.KindFile]; empty is that
	// nothing lies there any more.
	Kind string
	// Target is where a link leads.
	Target string
	// Opaque says of a directory that nothing is seen in it of what the disk has there.
	Opaque bool
	// Version tells this content of a file from others.
	Version string
	// Time is when it was staged last.
	Time time.Time
}

// Removed reports whether nothing lies there any more.
func (s *Staged) Removed() bool { return s.Kind == "" }

// StagedWrite is content that is to be staged.
type StagedWrite struct {
	Call Call
	Path string
	// Place is where the content lies, Hash its SHA-256 and Size its length in bytes.
	Place string
	Hash  [32]byte
	Size  int64
	// Was is the version of the content that this one takes the place of; empty where
	// no file was staged.
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
