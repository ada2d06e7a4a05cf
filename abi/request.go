package abi

import (
	"bytes"
	"encoding/json"
	"io"
)

// Request is one capability call, as the gate judges it and as it is done.
type Request struct {
	// Name is the operation, such as "fs.read".
	Name string
	// Args are its arguments: a JSON object without duplicate keys.
	Args json.RawMessage
	// Parts are its bulk.
	Parts []Part
}

// Answer is what a capability call came to, on the host's side. Failures are
// errors, not answers.
type Answer struct {
	// OK is the answer's head, a value that encodes to a JSON object.
	OK any
	// Body is its bulk, or nil. Whoever gets the answer closes it. A Read that
	// blocks must end soon after the Close.
	Body io.ReadCloser
	// BodyType says what the body is; zero is [PartBytes].
	BodyType PartType
	// Size is the body's length in bytes where it is known before it is read,
	// else -1.
	Size int64
}

// Close closes the body, if there is one.
func (a Answer) Close() error {
	if a.Body == nil {
		return nil
	}
	return a.Body.Close()
}

// Bytes is a body that is in memory. Its method Len tells how much of it is left
// to read, by which hosts know that reading it never waits, and count it as
// memory that is held.
func Bytes(b []byte) io.ReadCloser { return bytesBody{bytes.NewReader(b)} }

type bytesBody struct{ *bytes.Reader }

// Close does nothing: there is nothing to give back.
func (bytesBody) Close() error { return nil }
