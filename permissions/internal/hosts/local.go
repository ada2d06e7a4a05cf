package hosts

import (
	"net/netip"
	"slices"
	"strings"
)

// localNames are names that mean this machine or its network, or a service that
// hands out credentials; so do all names below them.
var localNames = []string{
	"localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa", "ip6-localhost", "ip6-loopback",
	"metadata", "instance-data", "kubernetes.default.svc", "host.docker.internal",
}

// localRanges are the local networks that netip does not know.
var localRanges = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),    // carriers' own; metadata at 100.100.100.200
	netip.MustParsePrefix("168.63.129.16/32"), // a cloud's agent service
	netip.MustParsePrefix("192.0.0.0/24"),     // protocols' own; metadata at 192.0.0.192
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and broadcast
	netip.MustParsePrefix("::/96"),            // IPv4 in an old form
	netip.MustParsePrefix("64:ff9b:1::/48"),   // local translation
	netip.MustParsePrefix("fec0::/10"),        // site-local
	netip.MustParsePrefix("2001:db8::/32"),    // documentation
}

// isLocal reports whether a reading is local.
func isLocal(name string) bool {
	a, err := netip.ParseAddr(name)
	if err != nil {
		return slices.ContainsFunc(localNames, func(local string) bool {
			return name == local || strings.HasSuffix(name, "."+local)
		})
	}
	if inner, ok := embedded(a); ok && isLocalAddr(inner) {
		return true
	}
	return isLocalAddr(a)
}

// loopbackNames mean the loopback on every system.
var loopbackNames = []string{"localhost", "ip6-localhost", "ip6-loopback"}

// Loopback reports whether every reading is an address that leads to the loopback, or a name of it.
func (h *Host) Loopback() bool {
	if h.Odd != "" || h.any || len(h.readings) == 0 {
		return false
	}
	return !slices.ContainsFunc(h.readings, func(name string) bool {
		if a, err := netip.ParseAddr(name); err == nil {
			return !a.IsLoopback() && !a.IsUnspecified() // which connects to this machine
		}
		return !slices.Contains(loopbackNames, name)
	})
}

func isLocalAddr(a netip.Addr) bool {
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() ||
		slices.ContainsFunc(localRanges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// embedded is the IPv4 address that translators reach through an IPv6 one:
// 64:ff9b::/96 and 2002::/16.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case !a.Is6():
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b:
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
