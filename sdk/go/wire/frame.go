package wire

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"
)

// Part is one raw piece of a frame.
type Part struct {
	Type PartType
	Data []byte
}

// Frame is one message between host and guest. On the wire, all integers
// little-endian:
//
//	u8 version (1) | u8 flags (0) | u16 reserved (0) | u32 length of head
//	head: one JSON object, UTF-8; keys unknown to the reader are ignored
//	parts, to the end of the message, each:
//	  u8 type | u8 flags (0) | u16 reserved (0) | u32 length | bytes
type Frame struct {
	Head  []byte
	Parts []Part
}

// Append encodes a message at the end of dst: the head that encode appends, and
// the parts.
func Append(dst []byte, encode func([]byte) []byte, parts ...Part) ([]byte, error) {
	if len(parts) > MaxParts {
		return dst, protocol("a message of " + strconv.Itoa(len(parts)) + " parts is over the limit of " + strconv.Itoa(MaxParts))
	}
	start, before := len(dst), dst
	dst = encode(append(dst, Version, 0, 0, 0, 0, 0, 0, 0))
	head := len(dst) - start - HeaderSize
	if head > MaxHead {
		return before, protocol("a head of " + strconv.Itoa(head) + " bytes is over the limit of " + strconv.Itoa(MaxHead) + "; send bulk as a part")
	}
	binary.LittleEndian.PutUint32(dst[start+4:], uint32(head))
	for _, p := range parts {
		if uint64(len(p.Data)) >= LengthToEnd {
			return before, protocol("a part of 4 GiB")
		}
		dst = append(dst, byte(p.Type), 0, 0, 0)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.Data)))
		dst = append(dst, p.Data...)
	}
	return dst, nil
}

// Decode reads one whole frame. Head and parts alias b.
func Decode(b []byte) (Frame, error) {
	n, err := HeadSize(b)
	if err != nil {
		return Frame{}, err
	}
	rest := b[HeaderSize:]
	if n > len(rest) {
		return Frame{}, protocol("a head of " + strconv.Itoa(n) + " bytes, but only " + strconv.Itoa(len(rest)) + " follow")
	}
	f := Frame{Head: rest[:n:n]}
	for rest = rest[n:]; len(rest) > 0; {
		if len(f.Parts) == MaxParts {
			return Frame{}, protocol("a frame of more than " + strconv.Itoa(MaxParts) + " parts")
		}
		t, length, err := PartHeader(rest)
		if err != nil {
			return Frame{}, err
		}
		body := rest[PartHeaderSize:]
		if length < 0 {
			length = int64(len(body))
		}
		if length > int64(len(body)) {
			return Frame{}, protocol("a part of " + strconv.FormatInt(length, 10) + " bytes, but only " + strconv.Itoa(len(body)) + " follow")
		}
		p := Part{Type: t, Data: body[:length:length]}
		if t == PartText && !utf8.Valid(p.Data) {
			return Frame{}, protocol("a text part that is not UTF-8")
		}
		f.Parts = append(f.Parts, p)
		rest = body[length:]
	}
	return f, nil
}

// HeadSize reads a frame's header and returns the length of its head.
func HeadSize(b []byte) (int, error) {
	switch {
	case len(b) < HeaderSize:
		return 0, protocol("a frame of " + strconv.Itoa(len(b)) + " bytes is shorter than its header")
	case b[0] != Version:
		return 0, protocol("a frame of version " + strconv.Itoa(int(b[0])) + "; this side speaks " + strconv.Itoa(Version))
	case b[1] != 0 || b[2] != 0 || b[3] != 0:
		return 0, protocol("a frame header with flags that this version does not define")
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n > MaxHead {
		return 0, protocol("a head of " + strconv.FormatUint(uint64(n), 10) + " bytes is over the limit")
	}
	return int(n), nil
}

// PartHeader reads a part's header and returns its type and length, which is -1
// for "to the end of the message".
func PartHeader(b []byte) (PartType, int64, error) {
	switch {
	case len(b) < PartHeaderSize:
		return 0, 0, protocol("a part header cut short")
	case b[1] != 0 || b[2] != 0 || b[3] != 0:
		return 0, 0, protocol("a part header with flags that this version does not define")
	case PartType(b[0]) < PartBytes || PartType(b[0]) > PartJSON:
		return 0, 0, protocol("a part of unknown type " + strconv.Itoa(int(b[0])))
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n == LengthToEnd {
		return PartType(b[0]), -1, nil
	}
	return PartType(b[0]), int64(n), nil
}

func protocol(message string) error {
	return &Error{Code: CodeProtocol, Message: message}
}
