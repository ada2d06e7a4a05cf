package fs

import (
	"crypto/sha256"
	"hash"

	"github.com/toolquay/toolquay/host/capability"
)

// maxRanges bounds the ranges that one read counts as seen. There are several where
// lines were cut.
const maxRanges = 64

// seen follows which bytes of a file a model is shown, as a read passes over them in
// order, and hashes those.
type seen struct {
	enc encoding
	// at is behind what was passed, in the file.
	at     int64
	ranges []capability.Range
	// open says that the last range goes on; hash is of that one.
	open    bool
	hash    hash.Hash
	scratch []byte
}

// pass takes the next bytes of the file, as they were decoded. Those that are shown
// are valid.
func (s *seen) pass(text []byte, shown bool) {
	if len(text) == 0 {
		return
	}
	if !shown || !s.open && len(s.ranges) == maxRanges {
		s.close()
		s.at += s.enc.rawLen(text)
		return
	}
	if s.enc.decoded() {
		s.scratch = s.enc.appendRaw(s.scratch[:0], text)
		text = s.scratch
	}
	if !s.open {
		s.begin()
	}
	s.hash.Write(text)
	s.at += int64(len(text))
}

func (s *seen) begin() {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	s.hash.Reset()
	s.open = true
	s.ranges = append(s.ranges, capability.Range{From: s.at})
}

// close ends the range that goes on.
func (s *seen) close() {
	if !s.open {
		return
	}
	last := &s.ranges[len(s.ranges)-1]
	last.To = s.at
	s.hash.Sum(last.Hash[:0])
	s.open = false
}
