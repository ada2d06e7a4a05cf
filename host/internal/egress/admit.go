package egress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// Admit judges a destination and finds the addresses that may be dialled for it: name is
// the host as it was judged. The error is a [*Refusal] where it may not be reached, and
// another one where the look-up failed.
func (d *Dialer) Admit(ctx context.Context, host string, port int) (name string, addrs []netip.Addr, err error) {
	name, _, err = d.judge(ctx, host, port)
	if err != nil {
		return "", nil, err
	}
	found, err := d.lookUp(ctx, name)
	if err != nil {
		return "", nil, err
	}
	addrs = slices.DeleteFunc(found, func(a netip.Addr) bool { return !d.mayDial(name, port, a) })
	if len(addrs) == 0 {
		return "", nil, d.refuse(&Refusal{name, port, "its address is on this machine or a private network", onlyNamed(name)})
	}
	return name, addrs, nil
}

// judge judges a destination by its spelling and by the rules, before any look-up.
func (d *Dialer) judge(ctx context.Context, host string, port int) (name string, local bool, err error) {
	name, local, odd := Read(host)
	switch {
	case odd != "":
		return "", false, d.refuse(&Refusal{Printable(host), port, "its host cannot be determined reliably: " + odd, ""})
	case port < 1 || port > 65535:
		return "", false, d.refuse(&Refusal{name, port, "there is no such port", ""})
	}
	if err := d.o.Allow(ctx, name, port); err != nil {
		no, ok := errors.AsType[*Refusal](err)
		if !ok {
			no = &Refusal{name, port, err.Error(), "This rule would allow it: WebFetch(domain:" + name + ")"}
		}
		return "", false, d.refuse(no)
	}
	if local && !d.named(name, port) {
		return "", false, d.refuse(&Refusal{name, port, "it is this machine, a private network or a service for this machine alone", onlyNamed(name)})
	}
	return name, local, nil
}

func onlyNamed(name string) string {
	return "Only a rule that names it would allow it: WebFetch(domain:" + name + ")"
}

// refuse logs a refusal.
func (d *Dialer) refuse(no *Refusal) error {
	d.o.Logger.Info("a connection was refused", "host", no.Host, "port", no.Port, "why", no.Why)
	return no
}

// Read reads a host without a port. What HostOf would accept beyond that, such as a URL or
// a port, is odd here.
func Read(host string) (name string, local bool, odd string) {
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsAny(host, ":/") {
		return "", false, "it is more than a host"
	}
	h := permissions.HostOf(host)
	return h.Name, h.Local, h.Odd
}

// lookUp finds the addresses of a name: the only look-up there is.
func (d *Dialer) lookUp(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	found, err := d.o.Resolve(ctx, name)
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

// mayDial judges one address that a host has. A rule may have named the host, or that very
// address; an address that a configured URL names stands for that URL alone.
func (d *Dialer) mayDial(name string, port int, a netip.Addr) bool {
	h := permissions.HostOf(untranslated(name, a).String())
	return h.Odd == "" && (!h.Local || d.named(name, port) || d.o.Named(h.Name))
}

// nat64 is the prefix by which networks without IPv4 reach public IPv4 hosts.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// untranslated is the IPv4 address behind one that a network without IPv4 makes of it when
// a name is looked up (RFC 6147). Spelled out, such an address is judged as it is: local.
func untranslated(name string, a netip.Addr) netip.Addr {
	if b := a.As16(); nat64.Contains(a) && name != a.String() {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func (d *Dialer) named(name string, port int) bool {
	return d.o.Named(name) || d.configured[place{name, port}]
}

// spelledLocal is the place that a configured URL names, if its spelling is local.
func spelledLocal(text string) (place, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return place{}, false
	}
	name, local, odd := Read(u.Hostname())
	port := portOf(u)
	return place{name, port}, odd == "" && port != 0 && (local || !strings.ContainsAny(name, ".:"))
}

// portOf is the port that a URL names, 0 where that is none.
func portOf(u *url.URL) int {
	text := u.Port()
	switch {
	case text == "" && strings.EqualFold(u.Scheme, "https"):
		return 443
	case text == "" && strings.EqualFold(u.Scheme, "http"):
		return 80
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// Printable makes text that is no host fit to be shown: quoted, and not long.
func Printable(host string) string {
	const most = 100
	if len(host) > most {
		host = host[:most]
	}
	return strconv.QuoteToASCII(host)
}
