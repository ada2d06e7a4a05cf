package worker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// A message is a header and a payload. The header, little-endian:
//
//	u32 size of the payload | u8 kind | u8 flags | u16 0 | u32 call | u32 request
//
// Calls are numbered by the host, their capability requests by the worker; 0
// stands for none.
const headerSize = 16

// kind says what a message is.
type kind uint8

// What the host sends.
const (
	kindSetup      kind = iota + 1 // a setup as JSON behind its u32 length, and a module
	kindCall                       // u64 session or 0, and the message that call receives; with flagSpill or not
	kindAssess                     // the message that assess receives
	kindCancel                     // ends a call
	kindAnswer                     // see answerHead
	kindData                       // a piece of an answer's body, or with flagFailed an error
	kindEndSession                 // u64 session; call is a number for kindSessionEnded
	kindSpilled                    // a piece was taken; with flagEnd the whole text, with flagFailed an error
)

// What a worker sends.
const (
	kindReady        kind = iota + 32 // the setup is done: why there is no filter, or nothing
	kindFailed                        // an error: the setup's, or the call's
	kindResult                        // see spillHead, and the message that call returns
	kindAssessment                    // the message that assess returns
	kindRequest                       // the message that submit takes
	kindCredit                        // u32: so many bytes more of a body may be sent
	kindDrop                          // the answer, or what is left of it, is not wanted
	kindProgress                      // the message that progress takes
	kindLog                           // a line for the operator: u8 level, text
	kindSessionEnded                  // answers kindEndSession
	kindSpill                         // a piece of a text of the result; request is its number
)

// The flags of kindData, kindSpill and kindSpilled.
const (
	flagEnd    = 1 // the body or text ends after this piece
	flagFailed = 2 // it broke off
)

// flagSpill, of kindCall, says that the host takes texts in pieces.
const flagSpill = 1

const (
	// window is how much of a body is sent before the worker asks for more.
	window = 256 << 10
	// chunk is the largest piece of a body.
	chunk = 64 << 10
	// small is the largest body of known size that travels with its answer.
	small = 16 << 10
	// maxErrorText bounds the text of an error.
	maxErrorText = 64 << 10
)

// header is a message's header, decoded.
type header struct {
	size          int
	kind          kind
	flags         uint8
	call, request uint32
}

// newMessage begins a message; the payload is appended to it. seal fills in
// the size.
func newMessage(k kind, call, request uint32, room int) []byte {
	b := make([]byte, headerSize, headerSize+room)
	putHeader(b, k, 0, call, request)
	return b
}

func putHeader(b []byte, k kind, flags uint8, call, request uint32) {
	b[4], b[5], b[6], b[7] = byte(k), flags, 0, 0
	binary.LittleEndian.PutUint32(b[8:], call)
	binary.LittleEndian.PutUint32(b[12:], request)
}

// writer sends whole messages. It is safe for concurrent use.
type writer struct {
	mu   sync.Mutex
	file *os.File
}

// send sends a message that newMessage began.
func (w *writer) send(b []byte) error {
	seal(b)
	return w.sendSealed(b)
}

// seal fills in the size of a message, which is all of b.
func seal(b []byte) { binary.LittleEndian.PutUint32(b, uint32(len(b)-headerSize)) }

// sendSealed sends messages that are whole, one behind the other.
func (w *writer) sendSealed(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.file.Write(b)
	return err
}

// reader receives messages. It is for one goroutine.
type reader struct {
	buf *bufio.Reader
	// limit is the largest payload of a kind, or -1 for a kind that must not
	// come.
	limit func(kind) int
}

func newReader(file *os.File, limit func(kind) int) *reader {
	return &reader{buf: bufio.NewReaderSize(file, chunk+headerSize), limit: limit}
}

// violation is an error of the peer that broke a rule of the protocol.
type violation struct{ text string }

func (v violation) Error() string { return v.text }

func violate(format string, args ...any) error { return violation{fmt.Sprintf(format, args...)} }

// next receives one message. The payload is the caller's.
func (r *reader) next() (header, []byte, error) {
	b, err := r.buf.Peek(headerSize)
	if err != nil {
		if len(b) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return header{}, nil, err
	}
	size := binary.LittleEndian.Uint32(b)
	h := header{
		kind:    kind(b[4]),
		flags:   b[5],
		call:    binary.LittleEndian.Uint32(b[8:]),
		request: binary.LittleEndian.Uint32(b[12:]),
	}
	reserved := binary.LittleEndian.Uint16(b[6:])
	_, _ = r.buf.Discard(headerSize) // it was peeked
	limit := r.limit(h.kind)
	switch {
	case limit < 0:
		return h, nil, violate("sent a message of kind %d", h.kind)
	case reserved != 0:
		return h, nil, violate("sent a message with the reserved field %#x", reserved)
	case int64(size) > int64(limit):
		return h, nil, violate("sent a message of kind %d with %d bytes; at most %d are allowed", h.kind, size, limit)
	}
	h.size = int(size)
	if size == 0 {
		return h, nil, nil
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r.buf, payload); err != nil {
		return h, nil, err
	}
	return h, payload, nil
}

// appendError encodes an error: u8 length of its code, code, text.
func appendError(b []byte, err error) []byte {
	code, text := string(abi.CodeOf(err)), err.Error()
	b = append(append(b, byte(len(code))), code...)
	return append(b, text[:min(len(text), maxErrorText)]...)
}

// decodeError reads what appendError wrote; nil where it is not that. A code
// that is not known becomes [abi.CodeInternal].
func decodeError(b []byte) *abi.Error {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return nil
	}
	code := abi.Code(b[1 : 1+int(b[0])])
	if !code.Known() {
		code = abi.CodeInternal
	}
	return &abi.Error{Code: code, Message: string(b[1+int(b[0]):])}
}

// workerError reads an error that a worker sent, whose text is a stranger's.
func workerError(b []byte) *abi.Error {
	e := decodeError(b)
	if e != nil {
		e.Message = engine.Told(e.Message)
	}
	return e
}

// answerHead precedes the message in kindAnswer: u8 whether a body follows, u8
// its type, 6 bytes 0, i64 its size or -1.
const answerHead = 16

func putAnswerHead(b []byte, body bool, t abi.PartType, size int64) []byte {
	flag := byte(0)
	if body {
		flag = 1
	}
	b = append(b, flag, byte(t), 0, 0, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint64(b, uint64(size))
}

// tick is how often the host looks after a worker: its memory, and the calls
// that should be over.
const tick = 50 * time.Millisecond

// failed is the message of an error.
func failed(call uint32, err error) []byte {
	return appendError(newMessage(kindFailed, call, 0, 128), err)
}
