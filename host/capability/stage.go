package capability

import (
	"context"
	"time"
)

// Stage holds what a session writes until a person applies it: reads see what is
// staged, and what lies on the disk stays as it is. Files are named by their real
// paths. It is safe for concurrent use. Errors are of a stage that cannot be read;
// then nothing may be read past it.
type Stage interface {
	// Lookup returns what is staged for a file; false is nothing.
	Lookup(path string) (Staged, bool, error)
	// Below returns what is staged below a directory, by path.
	Below(dir string) ([]Staged, error)
	// Place names a file, that nothing has yet, to write new content to.
	Place() (string, error)
	// Put stages content that lies at a place. Where it fails the place is taken away:
	// [abi.CodeChanged] says that what is staged is not what was expected.
	Put(ctx context.Context, w StagedWrite) error
}

// Staged is one file that is staged.
type Staged struct {
	// Path is the file's, and Place is where the content lies.
	Path, Place string
	// Time is when it was staged last.
	Time time.Time
}

// StagedWrite is content that is to be staged.
type StagedWrite struct {
	Call Call
	Path string
	// Place is where the content lies, Hash its SHA-256 and Size its length in bytes.
	Place string
	Hash  [32]byte
	Size  int64
	// Was is the place of the content that this one takes the place of; empty where
	// nothing was staged.
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
