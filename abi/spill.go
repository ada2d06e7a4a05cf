package abi

import (
	"errors"
	"io"
)

// Spilled is a text that lies in a file of the host's, because it is too long to
// hold in memory. Bytes that are no UTF-8 are as they were in the file, and
// U+FFFD in Head and Tail.
type Spilled struct {
	// Path is the file, absolute; empty where it could not be written to its end.
	Path string
	// Bytes is its size; Chars counts code points, each byte that is no UTF-8 as
	// one; Lines counts LFs.
	Bytes, Chars, Lines int64
	// Head and Tail are its beginning and its end, each at most SpillKeep bytes.
	Head, Tail string
}

const (
	// SpillOver is how many bytes of text a result holds in memory: what is longer,
	// and has a capability's answer in it, is spilled where that is possible. So is
	// what is shorter, but does not fit into the limit of the output.
	SpillOver = 1 << 20
	// SpillKeep bounds Head and Tail of what is spilled.
	SpillKeep = 256 << 10
	// MaxSpilled bounds what one result spills, in bytes.
	MaxSpilled = 4 << 30
)

// Spill takes the text of one block. Its errors may be the system's: see
// [SpillError].
type Spill interface {
	io.Writer
	// Done ends it, and returns what was written. Neither is to be called after
	// it.
	Done() (*Spilled, error)
	// Discard takes away what was written, after Done too.
	Discard()
}

// SpillError is the failure of a [Spill] with a code: without one of its own it is
// the system's, and [CodeIO].
func SpillError(err error) error {
	if _, coded := errors.AsType[*Error](err); err == nil || coded || CodeOf(err) != CodeInternal {
		return err
	}
	return Errorf(CodeIO, "a text of the result is too long to hold, and could not be kept in a file; make room there, or ask for less of it: %w", err)
}
