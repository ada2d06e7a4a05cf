package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

const (
	// tlsHandshake is the first byte of a TLS connection.
	tlsHandshake = 0x16
	// maxHello bounds a ClientHello with all its records.
	maxHello = 64 << 10
)

// peekHello reads the beginning of a connection, as far as it takes to tell which
// host TLS asks for: "" where it is not TLS or asks for none. It returns what it
// read. What begins as TLS and cannot be read is an error: it may be made to be read
// in two ways.
func peekHello(from io.Reader) (asked string, begin []byte, err error) {
	var first [1]byte
	n, err := from.Read(first[:])
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return "", nil, nil
	case n == 0:
		return "", nil, err
	case first[0] != tlsHandshake:
		return "", first[:], nil
	}
	seen := bytes.NewBuffer(first[:])
	rest := io.TeeReader(io.LimitReader(from, maxHello), seen)
	var hello *tls.ClientHelloInfo
	err = tls.Server(&deaf{Reader: io.MultiReader(bytes.NewReader(first[:]), rest)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = h
			return nil, errSeen
		},
	}).Handshake()
	if hello == nil {
		return "", nil, err
	}
	return hello.ServerName, seen.Bytes(), nil
}

// errSeen ends the handshake that peekHello only listens to.
var errSeen = errors.New("the ClientHello was read")

// deaf is a connection to read from only: what is written to it is nobody's.
type deaf struct{ io.Reader }

var _ net.Conn = (*deaf)(nil)

// Write takes what nobody will read.
func (*deaf) Write(p []byte) (int, error) { return len(p), nil }

// Close does nothing: the connection is the tunnel's.
func (*deaf) Close() error { return nil }

// LocalAddr is not asked for.
func (*deaf) LocalAddr() net.Addr { return nil }

// RemoteAddr is not asked for.
func (*deaf) RemoteAddr() net.Addr { return nil }

// SetDeadline does nothing: the reader has its own.
func (*deaf) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing, as SetDeadline.
func (*deaf) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, as SetDeadline.
func (*deaf) SetWriteDeadline(time.Time) error { return nil }
