package abi

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

func (s *sources) block(h BlockHead) (Block, error) {
	b := Block{Type: h.Type, MediaType: h.MediaType, Title: h.Title, ToolName: h.ToolName}
	switch h.Type {
	case BlockText:
		err := s.text(&b, h.Source)
		return b, err
	case BlockImage, BlockDocument:
		if kind, sub, ok := strings.Cut(h.MediaType, "/"); !ok || kind == "" || sub == "" {
			return b, Errorf(CodeProtocol, "%s with the media type %q; write one such as image/png", h.Type, h.MediaType)
		}
		data, _, err := s.join(h.Source, nil)
		b.Data = append(b.Data, data...)
		return b, err
	case BlockToolReference:
		if h.ToolName == "" {
			return b, Errorf(CodeProtocol, "tool reference without a tool name")
		}
		return b, nil
	}
	return b, Errorf(CodeProtocol, "block of the unknown type %q", h.Type)
}

// text sets the text of a block, or what it is spilled to.
func (s *sources) text(b *Block, from []Source) error {
	answers := slices.ContainsFunc(from, func(s Source) bool { return s.Handle != nil })
	var spill func() (Spill, error)
	if answers {
		spill = s.Spill
	}
	data, spilled, err := s.join(from, spill)
	switch {
	case err != nil:
		return err
	case spilled != nil:
		b.Spilled, err = spilled.Done()
		return SpillError(err)
	case utf8.Valid(data):
		b.Text = string(data)
		return nil
	case answers:
		return Errorf(CodeNotText, "text that is not UTF-8")
	}
	return Errorf(CodeProtocol, "text that is not UTF-8")
}

// join returns what sources name together, to be copied at once: in memory, or,
// where there is a spill for it and it is long, in that.
func (s *sources) join(from []Source, spill func() (Spill, error)) ([]byte, Spill, error) {
	if len(from) == 1 && from[0].Handle == nil {
		part, err := s.part(from[0])
		if err != nil {
			return nil, nil, Errorf(CodeOf(err), "source[0]: %w", err)
		}
		s.left -= int64(len(part))
		return part, nil, nil
	}
	g := gathering{sources: s, held: s.Room[:0], most: s.left, make: spill}
	if spill != nil {
		g.most = min(g.most, SpillOver)
	}
	for i, src := range from {
		if err := g.add(src); err != nil {
			return nil, nil, Errorf(CodeOf(err), "source[%d]: %w", i, err)
		}
	}
	s.Room = g.held[:0]
	if g.spill != nil {
		s.left -= g.parts
		return nil, g.spill, nil
	}
	s.left -= int64(len(g.held))
	return g.held, nil, nil
}

func (s *sources) structured(src Source) (json.RawMessage, error) {
	data, _, err := s.join([]Source{src}, nil)
	if err != nil {
		return nil, err
	}
	if src.Part != nil && s.parts[*src.Part].Type != PartJSON {
		return nil, Errorf(CodeProtocol, "part %d is no JSON part", *src.Part)
	}
	out, err := Canonical(data)
	if err != nil {
		return nil, Errorf(CodeProtocol, "%w", err)
	}
	return out, nil
}
