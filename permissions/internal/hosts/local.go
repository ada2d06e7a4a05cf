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

// localRanges are the IPv4 ranges without public hosts that netip does not know.
var localRanges = prefixes(
	"0.0.0.0/8",
	"100.64.0.0/10",                                     // carriers' own; metadata at 100.100.100.200
	"168.63.129.16/32",                                  // a cloud's agent service
	"192.0.0.0/24",                                      // protocols' own; metadata at 192.0.0.192
	"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", // documentation
	"192.88.99.0/24", // relays of 6to4
	"198.18.0.0/15",  // benchmarks
	"240.0.0.0/4",    // reserved, and broadcast
)

// global is all of IPv6 that is assigned to public hosts, but for the ranges below. Outside
// it are mapped, compatible and translated IPv4 (::ffff:0:0/96, ::/96, 64:ff9b::/96),
// private, link-local, site-local and multicast addresses.
var (
	global    = netip.MustParsePrefix("2000::/3")
	notGlobal = prefixes(
		"2001::/23",     // protocols' own, Teredo (2001::/32) among them
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4
		"3fff::/20",     // documentation
	)
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// isLocal reports whether a reading is local.
func isLocal(name string) bool {
	a, err := netip.ParseAddr(name)
	if err != nil {
		return slices.ContainsFunc(localNames, func(local string) bool {
			return name == local || strings.HasSuffix(name, "."+local)
		})
	}
	return isLocalAddr(a.Unmap())
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
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	if a.Is6() {
		return !global.Contains(a) || slices.ContainsFunc(notGlobal, within)
	}
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || slices.ContainsFunc(localRanges, within)
}
