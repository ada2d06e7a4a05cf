package host

import (
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// MaxFiles is how many files are watched.
const MaxFiles = maxFiles

// Sights are what a model has seen of files.
type Sights struct{ seenFiles }

// NewSights returns none.
func NewSights() *Sights { return &Sights{} }

// Note notes that a file was read.
func (s *Sights) Note(path string, ok abi.ReadOK) { s.note(path, &ok) }

// Stale tells which have changed.
func (s *Sights) Stale() []string { return s.stale() }

// PreviewOf is what a question shows of diffs.
func PreviewOf(diffs ...string) string { return preview(strings.Join(diffs, "")) }
