package shell

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// networks are the namespaces that the commands of each session share, by the channel that is
// closed when it ends. The zero value has none.
type networks struct {
	mu   sync.Mutex
	made map[<-chan struct{}]*network
}

// network is one of them. It is closed when its session has ended and no command uses it.
type network struct {
	of        *networks
	namespace *sandbox.Namespace
	users     int
	over      bool
}

// use returns the namespaces of a session, which its first command makes, and what gives them
// back. Nil is none: then sandboxes share nothing.
func (n *networks) use(ctx context.Context, s *sandbox.Sandbox, ended <-chan struct{}) (*sandbox.Namespace, func() error, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	one, ok := n.made[ended]
	if !ok {
		made, err := s.NewNamespace(ctx)
		if err != nil || made == nil {
			return nil, nil, err
		}
		one = &network{of: n, namespace: made}
		if n.made == nil {
			n.made = make(map[<-chan struct{}]*network)
		}
		n.made[ended] = one
		go one.wait(ended)
	}
	one.users++
	return one.namespace, one.giveBack, nil
}

// wait waits for the session's end.
func (o *network) wait(ended <-chan struct{}) {
	<-ended
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	delete(o.of.made, ended)
	o.over = true
	_ = o.closeUnused() // its files are only kept open
}

// giveBack says that a command does not use it any more.
func (o *network) giveBack() error {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.users--
	return o.closeUnused()
}

func (o *network) closeUnused() error {
	if !o.over || o.users > 0 {
		return nil
	}
	return o.namespace.Close()
}
