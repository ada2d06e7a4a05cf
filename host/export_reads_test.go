package host

import "github.com/toolquay/toolquay/abi"

// MaxReads is how many files are watched.
const MaxReads = maxReads

// Reads are the files a model has read.
type Reads struct{ reads }

// NewReads returns none.
func NewReads() *Reads { return &Reads{} }

// Note notes that a file was read.
func (r *Reads) Note(path string, ok abi.ReadOK) { r.note(path, ok) }

// Stale tells which have changed.
func (r *Reads) Stale() []string { return r.stale() }
