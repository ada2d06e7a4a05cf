package shell

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// networks are the namespaces that the commands of each session share, by the channel that is
// closed when it ends. The zero value has none.
type networks struct {
	mu   sync.Mutex
	made map[<-chan struct{}]*sandbox.Namespace
}

// of returns the namespaces of a session, which its first command makes. Nil is none: then
// sandboxes share nothing.
func (n *networks) of(ctx context.Context, s *sandbox.Sandbox, ended <-chan struct{}) (*sandbox.Namespace, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if made, ok := n.made[ended]; ok {
		return made, nil
	}
	made, err := s.NewNamespace(ctx)
	if err != nil || made == nil {
		return nil, err
	}
	if n.made == nil {
		n.made = make(map[<-chan struct{}]*sandbox.Namespace)
	}
	n.made[ended] = made
	go func() {
		<-ended
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.made, ended)
		_ = made.Close() // commands that run yet keep it
	}()
	return made, nil
}
