package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/toolquay/toolquay/host/internal/egress"
)

// The parts of SOCKS5 (RFC 1928) that are spoken here: no authentication, and
// CONNECT.
const (
	socksVersion = 5
	socksNoAuth  = 0
	socksNone    = 0xff
	socksConnect = 1

	socksIPv4   = 1
	socksDomain = 3
	socksIPv6   = 4
)

// The answers of SOCKS5.
const (
	socksGranted     = 0
	socksRefused     = 2
	socksUnreachable = 4
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// socks serves a client that speaks SOCKS5.
func (s *server) socks(ctx context.Context, c *client) {
	host, port, answer, err := socksRequest(c)
	if err != nil {
		if answer != socksGranted {
			_ = socksReply(c, answer)
		}
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	up, name, err := s.reach(ctx, host, port)
	if err != nil {
		answer = socksUnreachable
		if _, ok := errors.AsType[*egress.Refusal](err); ok {
			answer = socksRefused
		}
		_ = socksReply(c, answer)
		return
	}
	defer up.Close()
	if socksReply(c, socksGranted) == nil {
		s.tunnel(c, nil, up, name, port)
	}
}

// socksRequest reads the greeting and the request, and not a byte more: what follows
// belongs to the tunnel. With an error, answer is what the client is to be told; it
// is told nothing where that is zero.
func socksRequest(c io.ReadWriter) (host string, port int, answer byte, err error) {
	if err := socksGreet(c); err != nil {
		return "", 0, 0, err
	}
	var head [4]byte // version, command, reserved, kind of address
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return "", 0, 0, err
	}
	if head[0] != socksVersion || head[2] != 0 {
		return "", 0, 0, errors.New("it is not a SOCKS5 request")
	}
	host, answer, err = socksHost(c, head[3])
	if err != nil {
		return "", 0, answer, err
	}
	var number [2]byte
	if _, err := io.ReadFull(c, number[:]); err != nil {
		return "", 0, 0, err
	}
	if head[1] != socksConnect {
		return "", 0, socksNoCommand, fmt.Errorf("SOCKS5 command %d is not served", head[1])
	}
	return host, int(binary.BigEndian.Uint16(number[:])), socksGranted, nil
}

// socksGreet agrees on no authentication.
func socksGreet(c io.ReadWriter) error {
	var head [2]byte // version, number of methods
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c, methods); err != nil {
		return err
	}
	if head[0] != socksVersion || !slices.Contains(methods, socksNoAuth) {
		_, _ = c.Write([]byte{socksVersion, socksNone})
		return errors.New("the client insists on authentication")
	}
	_, err := c.Write([]byte{socksVersion, socksNoAuth})
	return err
}

// socksHost reads the host that a request names, by name or address.
func socksHost(c io.Reader, kind byte) (host string, answer byte, err error) {
	var size int
	switch kind {
	case socksIPv4:
		size = 4
	case socksIPv6:
		size = 16
	case socksDomain:
		var n [1]byte
		if _, err := io.ReadFull(c, n[:]); err != nil {
			return "", 0, err
		}
		size = int(n[0])
	default:
		return "", socksNoAddress, fmt.Errorf("SOCKS5 address type %d is not known", kind)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(c, raw); err != nil {
		return "", 0, err
	}
	if kind == socksDomain {
		return string(raw), 0, nil
	}
	a, _ := netip.AddrFromSlice(raw)
	return a.String(), 0, nil
}

// socksReply answers a request. The address that was dialled from is nobody's
// business here.
func socksReply(c io.Writer, answer byte) error {
	_, err := c.Write([]byte{socksVersion, answer, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
