//go:build !linux

package forward

import (
	"context"
	"errors"
	"net"

	"github.com/toolquay/toolquay/abi"
)

// Server lets nobody reach anything on this system.
type Server struct{}

// Listen fails: the commands of a session share no network on this system.
func Listen(string, func(ctx context.Context, port int) (net.Conn, error)) (*Server, error) {
	return nil, errors.ErrUnsupported
}

// Close does nothing.
func (*Server) Close() error { return nil }

// Remote is of no use on this system.
type Remote struct{}

// Open fails: the commands of a session share no network on this system.
func Open(context.Context, string) (*Remote, error) {
	return nil, abi.Errorf(abi.CodeUnsupported, "the commands of a session have no network of their own on this system")
}

// Done is never closed.
func (*Remote) Done() <-chan struct{} { return nil }

// Close does nothing.
func (*Remote) Close() error { return nil }

// Dial fails.
func (*Remote) Dial(context.Context, int) (net.Conn, error) { return nil, errors.ErrUnsupported }
