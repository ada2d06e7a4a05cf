package abi

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

const (
	// HeaderSize is the length of a frame's fixed header in bytes.
	HeaderSize = 8
	// PartHeaderSize is the length of a part's fixed header in bytes.
	PartHeaderSize = 8
	// MaxHead is the largest head in bytes. Heads are small by design: whatever
	// grows with the work travels as a part.
	MaxHead = 1 << 20
	// MaxParts is the largest number of parts in one frame.
	MaxParts = 4096
	// LengthToEnd as the length of a frame's last part means "up to the end of
	// the message". Only answers read through a handle may use it: their
	// length need not be known when their first byte is sent.
	LengthToEnd = math.MaxUint32
)

// PartType says what a part's bytes are.
type PartType uint8

const (
	// PartBytes is opaque bytes.
	PartBytes PartType = 1
	// PartText is UTF-8 text.
	PartText PartType = 2
	// PartJSON is one JSON value.
	PartJSON PartType = 3
)

// Part is one raw piece of a [Frame].
type Part struct {
	Type PartType
	Data []byte
}

// Frame is one message between host and guest.
//
// On the wire, all integers little-endian:
//
//	u8 version (1) | u8 flags (0) | u16 reserved (0) | u32 length of head
//	head: one JSON object, UTF-8; keys unknown to the reader are ignored
//	parts, to the end of the message, each:
//	  u8 type | u8 flags (0) | u16 reserved (0) | u32 length | bytes
//
// Flags and reserved fields that are not zero are refused: they are how a later
// minor revision makes itself known to a reader that would misread it.
type Frame struct {
	Head  json.RawMessage
	Parts []Part
}

// Size returns the length of the encoded frame in bytes.
func (f Frame) Size() int {
	n := HeaderSize + len(f.Head)
	for _, p := range f.Parts {
		n += PartHeaderSize + len(p.Data)
	}
	return n
}

// Append encodes f at the end of dst. It fails, and returns dst as it was, where
// a limit of the format is passed: the head, the number of parts, or a part of
// 4 GiB.
func (f Frame) Append(dst []byte) ([]byte, error) {
	if len(f.Head) > MaxHead {
		return dst, Errorf(CodeProtocol, "frame head of %d bytes is over the limit of %d; send bulk as a part", len(f.Head), MaxHead)
	}
	if len(f.Parts) > MaxParts {
		return dst, Errorf(CodeProtocol, "frame of %d parts is over the limit of %d", len(f.Parts), MaxParts)
	}
	out := AppendHeader(slices.Grow(dst, f.Size()), len(f.Head))
	out = append(out, f.Head...)
	for _, p := range f.Parts {
		var err error
		if out, err = appendPart(out, p); err != nil {
			return dst, err
		}
	}
	return out, nil
}

func appendPart(dst []byte, p Part) ([]byte, error) {
	if uint64(len(p.Data)) >= LengthToEnd {
		return dst, Errorf(CodeProtocol, "frame part of %d bytes is over the limit of %d", len(p.Data), uint32(LengthToEnd)-1)
	}
	dst = AppendPartHeader(dst, p.Type, uint32(len(p.Data)))
	return append(dst, p.Data...), nil
}

// AppendHeader writes a frame's fixed header for a head of the given length.
func AppendHeader(dst []byte, head int) []byte {
	dst = append(dst, Version, 0, 0, 0)
	return binary.LittleEndian.AppendUint32(dst, uint32(head))
}

// AppendPartHeader writes a part's fixed header.
func AppendPartHeader(dst []byte, t PartType, length uint32) []byte {
	dst = append(dst, byte(t), 0, 0, 0)
	return binary.LittleEndian.AppendUint32(dst, length)
}

// DecodeFrame reads one whole frame from b. The frame's head and parts alias b.
// A last part of [LengthToEnd] takes what is left. Text parts are checked to be
// UTF-8; head and JSON parts are not looked into: whoever reads them does so
// through [Unmarshal] or [Canonical], as the Decode functions here do. Every
// failure has [CodeProtocol].
func DecodeFrame(b []byte) (Frame, error) {
	if len(b) < HeaderSize {
		return Frame{}, Errorf(CodeProtocol, "frame of %d bytes is shorter than its header of %d", len(b), HeaderSize)
	}
	if b[0] != Version {
		return Frame{}, Errorf(CodeProtocol, "frame of version %d; this host speaks version %d", b[0], Version)
	}
	if b[1] != 0 || b[2] != 0 || b[3] != 0 {
		return Frame{}, Errorf(CodeProtocol, "frame header sets flags %#x, reserved %#x that version %d does not define", b[1], binary.LittleEndian.Uint16(b[2:]), Version)
	}
	n := binary.LittleEndian.Uint32(b[4:])
	rest := b[HeaderSize:]
	if n > MaxHead {
		return Frame{}, Errorf(CodeProtocol, "frame head of %d bytes is over the limit of %d", n, MaxHead)
	}
	if uint64(n) > uint64(len(rest)) {
		return Frame{}, Errorf(CodeProtocol, "frame head of %d bytes, but only %d follow", n, len(rest))
	}
	f := Frame{Head: json.RawMessage(rest[:n:n])}
	var err error
	f.Parts, err = decodeParts(rest[n:], len(b)-len(rest)+int(n))
	return f, err
}

func decodeParts(rest []byte, offset int) ([]Part, error) {
	var parts []Part
	for len(rest) > 0 {
		if len(parts) == MaxParts {
			return nil, Errorf(CodeProtocol, "frame has more than %d parts", MaxParts)
		}
		p, size, err := decodePart(rest)
		if err != nil {
			return nil, fmt.Errorf("part %d at byte %d: %w", len(parts), offset, err)
		}
		parts = append(parts, p)
		rest = rest[size:]
		offset += size
	}
	return parts, nil
}

func decodePart(b []byte) (Part, int, error) {
	if len(b) < PartHeaderSize {
		return Part{}, 0, Errorf(CodeProtocol, "%d bytes are shorter than a part header of %d", len(b), PartHeaderSize)
	}
	if b[1] != 0 || b[2] != 0 || b[3] != 0 {
		return Part{}, 0, Errorf(CodeProtocol, "part header sets flags that version %d does not define", Version)
	}
	p := Part{Type: PartType(b[0])}
	n := binary.LittleEndian.Uint32(b[4:])
	body := b[PartHeaderSize:]
	if n == LengthToEnd {
		n = uint32(min(uint64(len(body)), math.MaxUint32-1))
	}
	if uint64(n) > uint64(len(body)) {
		return Part{}, 0, Errorf(CodeProtocol, "a part of %d bytes, but only %d follow", n, len(body))
	}
	p.Data = body[:n:n]
	switch p.Type {
	case PartBytes, PartJSON:
	case PartText:
		if !utf8.Valid(p.Data) {
			return Part{}, 0, Errorf(CodeProtocol, "a text part that is not valid UTF-8")
		}
	default:
		return Part{}, 0, Errorf(CodeProtocol, "unknown part type %d", b[0])
	}
	return p, PartHeaderSize + int(n), nil
}
