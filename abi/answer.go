package abi

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"
)

// AnswerReader gives the bytes of the message that answers a capability call.
// The body passes through without being copied or held. It is not safe for
// concurrent use, but for Close, which ends a Read that waits as far as the
// body's own Close does.
type AnswerReader struct {
	head   []byte // what is left of frame head and part header
	body   io.ReadCloser
	left   int64 // of the body, or -1 where that is not known
	size   int64
	failed error // what the message tells of, if it is an error
	closed atomic.Bool
}

// NewAnswerReader makes the message for what a capability call came to: the
// answer, or the error if there is one, in which case the answer is closed. An
// answer that cannot be encoded becomes an error of its own.
//
// Where the body's size is known its part has that length, and a body that
// turns out shorter breaks off with [io.ErrUnexpectedEOF], while one that turns
// out longer is cut. Else its length is [LengthToEnd].
func NewAnswerReader(a Answer, err error) *AnswerReader {
	r := &AnswerReader{left: -1}
	if err == nil {
		r.head, err = answerFrame(a.OK)
	}
	if err != nil {
		// The failure is what matters; that of closing what is given up is not.
		_ = a.Close()
		r.failed = err
		r.head = errorFrame(err)
		r.size = int64(len(r.head))
		return r
	}
	if a.Body == nil {
		r.size = int64(len(r.head))
		return r
	}
	t := a.BodyType
	if t == 0 {
		t = PartBytes
	}
	length := uint32(LengthToEnd)
	if a.Size >= 0 {
		r.left = a.Size
		if a.Size < LengthToEnd {
			length = uint32(a.Size)
		}
	}
	r.head = AppendPartHeader(r.head, t, length)
	r.body = a.Body
	r.size = -1
	if r.left >= 0 {
		r.size = int64(len(r.head)) + r.left
	}
	return r
}

// roomForAnswer is how much room a small answer's head and headers take, in
// bytes.
const roomForAnswer = 256

func answerFrame(ok any) ([]byte, error) {
	b := append(AppendHeader(make([]byte, 0, roomForAnswer), 0), `{"ok":`...)
	start := len(b)
	b, err := appendAnswer(b, ok)
	if err != nil {
		return nil, Errorf(CodeInternal, "encoding the answer of a capability: %w", err)
	}
	if string(b[start:]) == "null" {
		b = append(b[:start], "{}"...)
	}
	if b[start] != '{' {
		return nil, Errorf(CodeInternal, "the answer of a capability is a %T, which does not encode to a JSON object", ok)
	}
	b = append(b, '}')
	if size := len(b) - HeaderSize; size > MaxHead {
		return nil, Errorf(CodeProtocol, "frame head of %d bytes is over the limit of %d; send bulk as a part", size, MaxHead)
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-HeaderSize))
	return b, nil
}

// appendAnswer encodes the answer's head. JSON that is there already is checked,
// by way of making it canonical.
func appendAnswer(dst []byte, ok any) ([]byte, error) {
	if raw, is := ok.(json.RawMessage); is && len(raw) > 0 {
		return AppendCanonical(dst, raw)
	}
	value, err := marshal(ok)
	return append(dst, value...), err
}

// errorFrame is the answer that tells of a failure.
func errorFrame(err error) []byte {
	const most = 64 << 10 // messages are for reading; a head has room for this
	text := err.Error()
	if len(text) > most {
		text = text[:most] + "..."
	}
	b := AppendHeader(nil, 0)
	b = append(b, `{"error":{"code":`...)
	b = appendString(b, string(CodeOf(err)))
	b = append(b, `,"message":`...)
	b = append(appendString(b, text), "}}"...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-HeaderSize))
	return b
}

// Size returns the length of the whole message in bytes, or -1 where it is not
// known.
func (r *AnswerReader) Size() int64 { return r.size }

// Buffered returns how many bytes can be read without waiting for the body.
func (r *AnswerReader) Buffered() int { return len(r.head) }

// Left returns how many bytes of the message were not read yet, or -1 where
// that is not known.
func (r *AnswerReader) Left() int64 {
	if r.body != nil && r.left < 0 {
		return -1
	}
	return int64(len(r.head)) + max(r.left, 0)
}

// SkipHead drops what is left of the head and the part header, so that Read
// goes on with the body. Where the message tells of an error there is no body
// to go on with, and SkipHead returns that error.
func (r *AnswerReader) SkipHead() error {
	r.head = nil
	return r.failed
}

// Read reads the next bytes of the message.
func (r *AnswerReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.body == nil || r.left == 0 {
		return 0, io.EOF
	}
	if r.left > 0 {
		p = p[:min(int64(len(p)), r.left)]
	}
	n, err := r.body.Read(p)
	if r.left > 0 {
		r.left -= int64(n)
		if r.left > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// Close closes the body. It may be called more than once.
func (r *AnswerReader) Close() error {
	if r.body == nil || r.closed.Swap(true) {
		return nil
	}
	return r.body.Close()
}

// DecodeAnswer reads the message that answers a capability call, as a guest
// does: its head holds either OK, a JSON object, or Error.
func DecodeAnswer(b []byte) (AnswerHead, []Part, error) {
	var head AnswerHead
	f, err := decodeHead(b, "answer", &head)
	if err != nil {
		return AnswerHead{}, nil, err
	}
	if string(head.OK) == "null" {
		head.OK = nil
	}
	switch {
	case (head.OK == nil) == (head.Error == nil):
		return AnswerHead{}, nil, Errorf(CodeProtocol, "answer must hold ok or error, and only one of them")
	case head.OK != nil && head.OK[0] != '{':
		return AnswerHead{}, nil, Errorf(CodeProtocol, "ok of the answer is no JSON object")
	}
	if head.Error != nil && !head.Error.Code.Known() {
		head.Error.Code = CodeInternal
	}
	return head, f.Parts, nil
}

var _ io.ReadCloser = (*AnswerReader)(nil)
