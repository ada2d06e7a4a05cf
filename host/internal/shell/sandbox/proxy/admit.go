package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/host/internal/egress"
)

// dialer makes the dialer that judges what is asked of a proxy.
func (o *Options) dialer() *egress.Dialer {
	return egress.New(egress.Options{Allow: o.allowPort, Named: o.LocalAllowed, Resolve: o.resolve, Dial: o.Dial})
}

// allowPort asks for the port, then for the host.
func (o *Options) allowPort(ctx context.Context, host string, port int) error {
	if len(o.Ports) > 0 && !slices.Contains(o.Ports, port) {
		return &egress.Refusal{
			Host: host, Port: port, Why: "commands may reach only the ports " + numbers(o.Ports),
			Remedy: "The setting of ports that commands may reach would have to list it.",
		}
	}
	return o.Allow(ctx, host, port)
}

// Machine is the name by which commands reach this machine's own loopback, where a rule
// names it: localhost is theirs, and many programs ask no proxy for it. No look-up is made.
const Machine = "host.toolquay.internal"

// resolve looks a name up.
func (o *Options) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if name == Machine {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	return o.Resolve(ctx, name)
}

// reach opens a connection to a host that may be reached. The error is an
// [*egress.Refusal] where it may not.
func (s *server) reach(ctx context.Context, host string, port int) (net.Conn, string, error) {
	conn, name, err := s.dialer.Dial(ctx, host, port)
	if no, ok := errors.AsType[*egress.Refusal](err); ok {
		s.deny(no)
	}
	return conn, name, err
}

// front refuses TLS that asks for another host than name; the host is what it
// asked for.
func (s *server) front(name string, port int, asked string) error {
	other, _, odd := egress.Read(asked)
	if odd != "" {
		other = egress.Printable(asked)
	} else if other == name {
		return nil
	}
	no := &egress.Refusal{Host: other, Port: port, Why: "TLS asked for it on a connection to " + name}
	s.deny(no)
	return no
}

// deny tells of a refusal.
func (o *Options) deny(no *egress.Refusal) {
	o.Denied(no.Host, no.Port, no.Why)
	o.Logger.Info("a connection was refused", "host", no.Host, "port", no.Port, "why", no.Why)
}

func numbers(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}
