package permissions

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Host is what a URL or an address names, as a dialler takes it.
type Host struct {
	// Name is the host in lower case, without a dot at its end; of an address
	// its usual form. It is empty where Odd is set.
	Name string
	// Odd says why it cannot be told for sure what would be dialled: readers of
	// URLs disagree about it, or a person would. No rule allows it.
	Odd string
	// Local says that it is this machine, a private or link-local network, or a
	// service that hands out the machine's credentials.
	Local bool

	// readings are the hosts that some reader may dial; any says that there may
	// be others.
	readings []string
	any      bool
}

// HostOf reads a URL, or a host with or without a port. Only http and https
// URLs name a host for sure, without user information, backslashes or encoded
// characters before the path, in ASCII (write xn-- for others), and addresses in
// their usual form.
func HostOf(target string) Host {
	var h Host
	authority := h.cutScheme(target)
	h.authority(authority)
	if h.Odd == "" {
		h.Name = h.readings[0]
	}
	for _, name := range h.readings {
		h.Local = h.Local || isLocal(name)
	}
	return h
}

func (h *Host) odd(why string) {
	if h.Odd == "" {
		h.Odd = why
	}
}

// cutScheme returns what stands between the scheme and the path.
func (h *Host) cutScheme(target string) string {
	rest := target
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		h.odd("there is a blank or control character in it")
		// Readers drop them, or end the URL there.
		rest = strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7f {
				return -1
			}
			return r
		}, rest)
		h.any = true
	}
	scheme, after, ok := strings.Cut(rest, "://")
	switch {
	case ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
		rest = after
	case ok && !strings.ContainsAny(scheme, "/?#"):
		h.odd("its scheme is not http or https")
		rest = after
	case hasScheme(rest):
		h.odd("it is a URL without //")
		_, rest, _ = strings.Cut(rest, ":")
		rest = strings.TrimLeft(rest, `/\`)
	case strings.ContainsAny(rest, `/?#\`):
		h.odd("it is neither a host nor a URL with a scheme")
		rest = strings.TrimLeft(rest, `/\`)
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// hasScheme reports whether what stands before the first colon is a scheme, and
// not a host with a port behind it.
func hasScheme(text string) bool {
	name, rest, ok := strings.Cut(text, ":")
	if !ok || name == "" || strings.Trim(strings.ToLower(name), nameLetters+"+-.") != "" {
		return false
	}
	port, _, _ := strings.Cut(rest, "/")
	return strings.Trim(port, "0123456789") != "" && !strings.Contains(rest, ":") || strings.HasPrefix(rest, "/")
}

// authority reads user information, host and port.
func (h *Host) authority(text string) {
	if !isASCII(text) {
		h.odd("there are letters outside ASCII in the host: write its xn-- form")
		h.any = true
	}
	if strings.Contains(text, `\`) {
		h.odd("there is a backslash in it")
		for part := range strings.SplitSeq(text, `\`) {
			h.authority(part)
		}
		return
	}
	if strings.Contains(text, "@") {
		h.odd("there is user information before the host")
		for part := range strings.SplitSeq(text, "@") {
			h.host(part)
		}
		return
	}
	h.host(text)
}

// host reads a host with or without a port.
func (h *Host) host(text string) {
	if strings.Contains(text, "%") {
		h.odd("there are encoded characters in the host")
		zoneless, _, _ := strings.Cut(strings.TrimPrefix(text, "["), "%")
		if a, err := netip.ParseAddr(zoneless); err == nil {
			h.address(a)
		}
		if plain, err := url.PathUnescape(text); err == nil && plain != text && !strings.ContainsAny(plain, `/\?#@`) {
			h.host(plain)
		} else {
			h.any = true
		}
		return
	}
	name, err := cutPort(text)
	if err != nil {
		h.odd(err.Error())
		h.any = h.any || strings.HasPrefix(text, "[") // to some readers one of several
	}
	name = strings.ToLower(name)
	if bare := strings.TrimRight(name, "."); bare != strings.TrimSuffix(name, ".") {
		h.odd("there are dots at its end")
	} else {
		name = bare
	}
	h.name(strings.TrimRight(name, "."))
}

// cutPort takes the port off, and the brackets off an address.
func cutPort(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "["); ok {
		address, port, ok := strings.Cut(rest, "]")
		if _, err := netip.ParseAddr(address); err != nil || !ok || !strings.Contains(address, ":") {
			return address, errors.New("there is no address in the brackets")
		}
		return address, checkPort(port)
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Is6() {
		return text, nil
	}
	name, port, ok := strings.Cut(text, ":")
	if !ok {
		return name, nil
	}
	return name, checkPort(":" + port)
}

func checkPort(text string) error {
	port, ok := strings.CutPrefix(text, ":")
	if text == "" || ok && port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); !ok || err != nil || n == 0 || port[0] == '+' {
		return errors.New("what is behind the host is no port")
	}
	return nil
}

// maxHost is the longest name that can be looked up.
const maxHost = 253

// name takes a host's name or address as a reading.
func (h *Host) name(text string) {
	if a, err := netip.ParseAddr(text); err == nil {
		h.address(a)
		return
	}
	switch {
	case text == "":
		h.odd("it names no host")
		return
	case len(text) > maxHost || !validLabels(text):
		h.odd("it is no host's name")
		// Some readers expand {a,b} and [1-3].
		h.any = h.any || strings.ContainsAny(text, "{}[]*?")
	}
	last := text[strings.LastIndexByte(text, '.')+1:]
	if isNumber(last) {
		h.odd("it is an address written in another form than usual")
		for _, a := range oddAddresses(text) {
			h.address(a)
		}
	}
	h.readings = append(h.readings, text)
}

func (h *Host) address(a netip.Addr) {
	h.readings = append(h.readings, a.Unmap().String())
}

func validLabels(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, nameLetters+"-") != "" {
			return false
		}
	}
	return true
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isNumber reports whether a label makes the whole name an address, as browsers
// and the C library read it.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// oddAddresses are the addresses that an address in an odd form may be: numbers
// may be octal to one reader and decimal to another.
func oddAddresses(text string) []netip.Addr {
	var out []netip.Addr
	for _, octal := range []bool{true, false} {
		if a, ok := oddAddress(strings.Split(text, "."), octal); ok && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// oddAddress reads one to four numbers, the last of which fills what is left.
func oddAddress(parts []string, octal bool) (netip.Addr, bool) {
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		base := 10
		if hex, ok := strings.CutPrefix(part, "0x"); ok {
			part, base = hex, 16
			if part == "" {
				part = "0"
			}
		} else if octal && len(part) > 1 && part[0] == '0' {
			base = 8
		}
		n, err := strconv.ParseUint(part, base, 32)
		limit := uint64(math.MaxUint8)
		if i == len(parts)-1 {
			limit = 1<<(8*(5-len(parts))) - 1
		}
		if err != nil || n > limit {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			n <<= 8 * (3 - i)
		}
		sum += n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// localNames are names that mean this machine or its network, or a service that
// hands out credentials; so do all names below them.
var localNames = []string{
	"localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa", "ip6-localhost", "ip6-loopback",
	"metadata", "instance-data", "kubernetes.default.svc", "host.docker.internal",
}

// localRanges are the networks besides those netip tells.
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

// hostPattern is what stands behind "domain:" in a rule.
type hostPattern struct {
	name string
	// sub says that it speaks of the names below name, and not of name; with an
	// empty name, of every host.
	sub bool
}

// parseDomain reads a host, *.host for what is below it, or * for all.
func parseDomain(text string) (*hostPattern, error) {
	p := &hostPattern{name: text}
	if text == "*" {
		return &hostPattern{sub: true}, nil
	}
	p.name, p.sub = strings.CutPrefix(text, "*.")
	if strings.ContainsAny(p.name, "*?") {
		return nil, errors.New("a wildcard in a host stands only before its first dot, as in *.example.com")
	}
	h := HostOf(p.name)
	switch bare := strings.TrimSuffix(strings.ToLower(p.name), "."); {
	case h.Odd != "":
		return nil, fmt.Errorf("%q is not a host that can be dialled: %s", p.name, h.Odd)
	case bare != h.Name && strings.Trim(bare, "[]") != h.Name:
		return nil, fmt.Errorf("%q is more than a host; write domain:%s", p.name, h.Name)
	case p.sub && isAddress(h.Name):
		return nil, errors.New("there is nothing below an address")
	}
	p.name = h.Name
	return p, nil
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

func (p *hostPattern) match(name string) bool {
	if !p.sub || p.name == "" {
		return p.sub || p.name == name
	}
	rest, ok := strings.CutSuffix(name, p.name)
	return ok && strings.HasSuffix(rest, ".") && len(rest) > 1
}

// allows reports whether an allow speaks of a host; names, whether it does so by
// name, as local hosts need it.
func (p *hostPattern) allows(h *Host) bool { return h.Odd == "" && p.match(h.Name) }

func (p *hostPattern) names(h *Host) bool { return p.name != "" && p.allows(h) }

// holdsBack reports whether a deny or ask speaks of any host that may be dialled.
func (p *hostPattern) holdsBack(h *Host) bool {
	return h.any || p.name == "" || slices.ContainsFunc(h.readings, p.match)
}
