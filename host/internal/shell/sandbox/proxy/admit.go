package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// refusal is why a connection is not let through; its text is for who reads the
// command's output.
type refusal struct {
	host string
	port int
	why  string
	// remedy says what would let it through; empty where nothing would.
	remedy string
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("%s, port %d, was refused: %s.", r.host, r.port, r.why)
	if r.remedy != "" {
		text += "\n" + r.remedy
	}
	return text
}

// reach opens a connection to a host that may be reached. The error is a *refusal
// where it may not.
func (o *Options) reach(ctx context.Context, host string, port int) (net.Conn, string, error) {
	name, addrs, err := o.admit(ctx, host, port)
	if err != nil {
		if no, ok := errors.AsType[*refusal](err); ok {
			o.deny(no)
		}
		return nil, "", err
	}
	conn, err := o.dial(ctx, addrs, port)
	if err != nil {
		return nil, "", fmt.Errorf("%s, port %d, could not be reached: %w", name, port, err)
	}
	return conn, name, nil
}

// admit judges a host and finds the addresses that may be dialled for it.
func (o *Options) admit(ctx context.Context, host string, port int) (string, []netip.Addr, error) {
	name, local, odd := read(host)
	refuse := func(why, remedy string) (string, []netip.Addr, error) {
		return "", nil, &refusal{host: name, port: port, why: why, remedy: remedy}
	}
	switch {
	case odd != "":
		name = printable(host)
		return refuse("it cannot be told for sure what it names: "+odd, "")
	case port < 1 || port > 65535:
		return refuse("there is no such port", "")
	case len(o.Ports) > 0 && !slices.Contains(o.Ports, port):
		return refuse("commands may reach only the ports "+numbers(o.Ports), "The setting of ports that commands may reach would have to list it.")
	}
	if err := o.Allow(ctx, name, port); err != nil {
		return refuse(err.Error(), "This rule would allow it: WebFetch(domain:"+name+")")
	}
	if local && !o.LocalAllowed(name) {
		return refuse("it is this machine, a private network or a service for this machine alone",
			"Only a rule that names it would allow it: WebFetch(domain:"+name+")")
	}
	found, err := o.resolve(ctx, name)
	if err != nil {
		return "", nil, err
	}
	addrs := slices.DeleteFunc(found, func(a netip.Addr) bool { return !o.mayDial(name, a) })
	if len(addrs) == 0 {
		return refuse("its address is on this machine or a private network",
			"Only a rule that names it would allow it: WebFetch(domain:"+name+")")
	}
	return name, addrs, nil
}

// read reads a host without a port. What HostOf would take for more than a host,
// such as a URL or a port of its own, is odd here.
func read(host string) (name string, local bool, odd string) {
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsAny(host, ":/") {
		return "", false, "it is more than a host"
	}
	h := permissions.HostOf(host)
	return h.Name, h.Local, h.Odd
}

// Machine is the name by which commands reach this machine's own loopback, where a rule
// names it: localhost is theirs, and many programs ask no proxy for it. No look-up is made.
const Machine = "host.toolquay.internal"

// resolve finds the addresses of a name: the only look-up there is.
func (o *Options) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	if name == Machine {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialling)
	defer cancel()
	found, err := o.Resolve(ctx, name)
	if err == nil && len(found) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return nil, fmt.Errorf("%s could not be looked up: %w", name, err)
	}
	addrs := make([]netip.Addr, len(found))
	for i, a := range found {
		addrs[i] = a.Unmap()
	}
	return addrs, nil
}

// mayDial judges one address that a host has. A rule may have named the host, or
// that very address.
func (o *Options) mayDial(name string, a netip.Addr) bool {
	h := permissions.HostOf(a.String())
	return h.Odd == "" && (!h.Local || o.LocalAllowed(name) || o.LocalAllowed(h.Name))
}

// dial tries the addresses in turn. There is no end of what a name may resolve to.
func (o *Options) dial(ctx context.Context, addrs []netip.Addr, port int) (net.Conn, error) {
	const most = 8
	var errs []error
	for _, a := range addrs[:min(len(addrs), most)] {
		conn, err := o.dialOne(ctx, netip.AddrPortFrom(a, uint16(port)))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (o *Options) dialOne(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialling)
	defer cancel()
	return o.Dial(ctx, to)
}

// front refuses TLS that asks for another host than name; the host is what it
// asked for.
func (o *Options) front(name string, port int, asked string) error {
	other, _, odd := read(asked)
	if odd != "" {
		other = printable(asked)
	} else if other == name {
		return nil
	}
	no := &refusal{host: other, port: port, why: "TLS asked for it on a connection to " + name}
	o.deny(no)
	return no
}

// deny tells of a refusal.
func (o *Options) deny(no *refusal) {
	o.Denied(no.host, no.port, no.why)
	o.Logger.Info("a connection was refused", "host", no.host, "port", no.port, "why", no.why)
}

// printable makes a host that is none fit to be shown: quoted, and not long.
func printable(host string) string {
	const most = 100
	if len(host) > most {
		host = host[:most]
	}
	return strconv.QuoteToASCII(host)
}

func numbers(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}
