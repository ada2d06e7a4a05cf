package shell

import (
	"context"
	"net"
	"sync"
	"syscall"

	"github.com/toolquay/toolquay/abi"
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

// known returns the namespaces of a session as use does, and makes none.
func (n *networks) known(ended <-chan struct{}) (_ *sandbox.Namespace, giveBack func() error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	one, ok := n.made[ended]
	if !ok {
		return nil, nil
	}
	one.users++
	return one.namespace, one.giveBack
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

// Dial connects to a port of the loopback that the commands of a session share, by the channel
// that is closed when it ends. Where nothing listens, the error is [syscall.ECONNREFUSED]. It has
// the code [abi.CodeUnsupported] where they share none: without a sandbox, with the machine's
// whole network, or where each command has a network of its own.
func (c *Capability) Dial(ctx context.Context, ended <-chan struct{}, port int) (net.Conn, error) {
	switch s := c.setup; {
	case s.Sandbox == nil:
		return nil, abi.Errorf(abi.CodeUnsupported, "commands run without a sandbox here, so that their servers listen on this machine's own loopback")
	case s.Network == sandbox.NetworkAll:
		return nil, abi.Errorf(abi.CodeUnsupported, "commands have this machine's network, so that their servers listen on its own loopback")
	case !s.Sandbox.Shares():
		return nil, abi.Errorf(abi.CodeUnsupported, "the commands of a session share no network here: with bubblewrap each has one of its own, which nothing outside reaches, and in a partial sandbox their servers listen on this machine's own loopback")
	}
	namespace, giveBack := c.setup.networks.known(ended)
	if namespace == nil {
		return nil, syscall.ECONNREFUSED // no command has run
	}
	conn, err := c.setup.Sandbox.Dial(ctx, namespace, port)
	if closing := giveBack(); closing != nil {
		c.setup.Logger.Warn("closing a session's network", "error", closing)
	}
	return conn, err
}
