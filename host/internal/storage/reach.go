package storage

import (
	"context"
	"net"
	"path/filepath"
	"sync"

	"github.com/toolquay/toolquay/host/internal/forward"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// reach lets other processes of this user reach a session's network. The zero value is ready
// for use.
type reach struct {
	mu     sync.Mutex
	over   bool // it was tried, or is closed
	server *forward.Server
}

func (r *reach) open(dir *sessiondir.Dir, dial func(ctx context.Context, port int) (net.Conn, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil
	}
	r.over = true
	if err := makeIn(dir, reachDir); err != nil {
		return err
	}
	var err error
	r.server, err = forward.Listen(reachIn(dir.Path()), dial)
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

func reachIn(dir string) string { return filepath.Join(dir, reachDir) }

// Reach reaches the network of a session's commands from another process, by its directory; see
// [forward.Open].
func Reach(ctx context.Context, dir string) (*forward.Remote, error) {
	return forward.Open(ctx, reachIn(dir))
}

// Reachable has other processes of this user reach the network of the session's commands from
// now on, see [Reach]. Without a directory, and where the system has no such network, nobody can.
func (s *Session) Reachable(dial func(ctx context.Context, port int) (net.Conn, error)) {
	if s.dir == nil {
		return
	}
	if err := s.reach.open(s.dir, dial); err != nil {
		s.logger.Info("nobody outside reaches the network of the session's commands", "directory", s.dir.Path(), "error", err)
	}
}
