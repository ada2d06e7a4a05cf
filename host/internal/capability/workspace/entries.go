package workspace

import (
	"errors"
	"io"
)

// Entry is one entry of a directory as a walk sees it: no more is known than what
// the directory itself tells.
type Entry struct {
	Name string
	// Kind is one of the abi.Kind constants.
	Kind string
}

// Entries is what a walk reads directories into, one after the other. Names that
// came out of it stay valid. The zero value is ready; it is for one goroutine at a
// time.
type Entries struct {
	list []Entry
	buf  []byte
}

// Next returns the next entries, in no order; io.EOF after the last. The list is
// valid until the next call with the same e. It goes by the same position as
// ReadDir, so that a directory is read in one of the two ways.
func (d *Dir) Next(e *Entries) ([]Entry, error) {
	e.list = e.list[:0]
	if err := d.read(e); err != nil {
		return nil, err
	}
	return e.list, nil
}

// First returns the first entries as [Dir.Next] does, and whether they are all that
// there are: of most directories they are, and then it is known what those do not
// hold.
func (d *Dir) First(e *Entries) (list []Entry, all bool, err error) {
	e.list = e.list[:0]
	err = d.read(e)
	if err == nil {
		err = d.read(e)
	}
	switch {
	case errors.Is(err, io.EOF):
		return e.list, true, nil
	case len(e.list) > 0:
		return e.list, false, nil // a failure comes again
	}
	return nil, false, err
}
