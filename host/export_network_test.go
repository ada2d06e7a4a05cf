package host

import (
	"context"
	"net"
	"net/netip"
	"os"

	"github.com/toolquay/toolquay/plugins"
)

// MainInside is the part of [Main] without which commands reach no hosts.
func MainInside() {
	ownRunners.Store(new([]plugins.RunnerFunc))
	if len(os.Args) > 1 {
		inside(os.Args[1], os.Args[2:])
	}
}

// Bubblewrap has sandboxes made by a bubblewrap.
func (s *Shell) Bubblewrap(path string) { s.bubblewrap = path }

// LeadTo has commands find all hosts at one public address, where a local server answers.
func (s *Shell) LeadTo(server net.Addr) {
	s.resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
	}
	s.dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.String())
	}
}
