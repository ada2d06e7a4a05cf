package host

import (
	"context"
	"net"

	"github.com/toolquay/toolquay/host/internal/forward"
	"github.com/toolquay/toolquay/host/internal/session"
)

// Forwarding carries the connections of a listener to where its Dial leads:
//
//	ln, err := net.Listen("tcp", "127.0.0.1:3000")
//	f := host.Forwarding{Dial: func(ctx context.Context) (net.Conn, error) { return session.Dial(ctx, 3000) }}
//	err = f.Serve(ctx, ln)
//
// Whoever connects to the listener reaches what commands serve there, so it should listen on a
// loopback.
type Forwarding = forward.Forwarding

// RemoteSession reaches the network of a session's commands from another process; see
// [ReachSession].
type RemoteSession = forward.Remote

// Dial connects to a port on which a command of the session listens: on the loopback that its
// commands share, by 127.0.0.1 or ::1. Where none does, the error is [syscall.ECONNREFUSED]. It
// has the code abi.CodeUnsupported where the commands have no network of their own: without a
// sandbox or with a partial one, with [NetworkAll], with bubblewrap, and on systems other than
// Linux. A command whose call a person allowed a host has a network that nobody shares.
func (s *Session) Dial(ctx context.Context, port int) (net.Conn, error) {
	return s.host.engines.commands.Dial(ctx, s.core.Life.Context().Done(), port)
}

// ReachSession reaches a session of another process of this user, by its directory, once one of
// its commands has run for a second. It fails with [os.ErrNotExist] or [syscall.ECONNREFUSED]
// where there is no such session, and as [Session.Dial] does where its commands have no network of
// their own.
func ReachSession(ctx context.Context, sessionDir string) (*RemoteSession, error) {
	return session.Reach(ctx, sessionDir)
}
