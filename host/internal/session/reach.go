package session

import (
	"context"
	"net"
	"sync"

	"github.com/toolquay/toolquay/host/internal/forward"
	"github.com/toolquay/toolquay/host/internal/storage"
)

// reach lets other processes of this user reach a session's network. The zero value is ready
// for use.
type reach struct {
	mu     sync.Mutex
	over   bool // it was tried, or is closed
	server *forward.Server
}

func (r *reach) open(storage *storage.Session, dial func(ctx context.Context, port int) (net.Conn, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil
	}
	r.over = true
	dir, err := storage.Reach()
	if err == nil && dir != "" {
		r.server, err = forward.Listen(dir, dial)
	}
	return err
}

func (r *reach) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.server == nil {
		return nil
	}
	err := r.server.Close()
	r.server = nil
	return err
}

// Reach reaches the network of a session's commands from another process, by its directory; see
// [forward.Open].
func Reach(ctx context.Context, dir string) (*forward.Remote, error) {
	return forward.Open(ctx, storage.ReachIn(dir))
}

// reachable has other processes of this user reach the network of the session's commands from
// now on, see [Reach]. Without a directory, and where the system has no such network, nobody can.
func (s *Session) reachable(dial func(ctx context.Context, port int) (net.Conn, error)) {
	if err := s.reach.open(s.Storage, dial); err != nil {
		s.Host.Logger.Info("nobody outside reaches the network of the session's commands", "directory", s.Storage.Dir(), "error", err)
	}
}
