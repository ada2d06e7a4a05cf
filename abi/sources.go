package abi

import (
	"io"
	"slices"
)

// sources joins bytes for the blocks of one result.
type sources struct {
	ResultDecoder
	parts []Part
	// left is what Limit has left, spillLeft what MaxSpilled has.
	left, spillLeft int64
	spills          []Spill
	// begun are the answers that sources with a length took only a piece of.
	begun []begun
}

// begun is an answer of which a piece was taken.
type begun struct {
	handle uint32
	body   io.ReadCloser
}

// answer returns what is left of the answer that a handle names, opened by an
// earlier source or now.
func (s *sources) answer(handle uint32) (io.ReadCloser, error) {
	for _, b := range s.begun {
		if b.handle == handle {
			return b.body, nil
		}
	}
	if s.Open == nil {
		return nil, Errorf(CodeProtocol, "handle %d was never given", handle)
	}
	return s.Open(handle)
}

// begin keeps an answer open for the sources to come.
func (s *sources) begin(handle uint32, body io.ReadCloser) {
	if !slices.ContainsFunc(s.begun, func(b begun) bool { return b.handle == handle }) {
		s.begun = append(s.begun, begun{handle, body})
	}
}

// end closes an answer that was taken whole, so that its handle is used up. What was
// read is what counts.
func (s *sources) end(handle uint32, body io.ReadCloser) {
	s.begun = slices.DeleteFunc(s.begun, func(b begun) bool { return b.handle == handle })
	_ = body.Close()
}

// endAll closes the answers that were not taken whole.
func (s *sources) endAll() {
	for _, b := range s.begun {
		_ = b.body.Close()
	}
}

// discard takes away what was spilled.
func (s *sources) discard() {
	for _, spill := range s.spills {
		spill.Discard()
	}
}

// part returns the part that a source names. It aliases the frame.
func (s *sources) part(src Source) ([]byte, error) {
	if (src.Part == nil) == (src.Handle == nil) {
		return nil, Errorf(CodeProtocol, "a source must name a part or a handle, and only one of them")
	}
	if src.Length != 0 {
		return nil, Errorf(CodeProtocol, "a source with a length must name a handle; parts are taken whole")
	}
	i := *src.Part
	if i < 0 || i >= len(s.parts) {
		return nil, Errorf(CodeProtocol, "part %d of %d does not exist", i, len(s.parts))
	}
	if data := s.parts[i].Data; int64(len(data)) <= s.left {
		return data, nil
	}
	return nil, s.overLimit()
}

func (s *sources) overLimit() error {
	return Errorf(CodeLimit, "the result is over its limit of %s (limit output)", Size(s.Limit))
}
