// Package hosts finds the host that a URL or an address names, and matches hosts against
// the patterns of rules.
package hosts

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Host is the host that a URL or an address names, as a dialler reads it.
type Host struct {
	// Name is the host in lower case, without a dot at its end; of an address
	// its usual form. It is empty where Odd is set.
	Name string
	// Odd says why the host is uncertain: programs, or people, would read the URL in
	// different ways. No rule allows it.
	Odd string
	// Local says that it is this machine, a private or link-local network, or a
	// service that hands out the machine's credentials.
	Local bool

	// readings are all hosts that some program may dial; any says that there may be
	// others.
	readings []string
	any      bool
}

// AnyHost is a target that may turn out to be any host.
var AnyHost = &Host{any: true}

// Of reads a URL, or a host with or without a port. Only http and https
// URLs name a host for sure, without user information, backslashes or encoded
// characters before the path, in ASCII (write xn-- for others), and addresses in
// their usual form.
func Of(target string) Host {
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

// cutScheme returns the part between the scheme and the path.
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

// hasScheme reports whether the text before the first colon is a scheme, and not a host with
// a port after it.
func hasScheme(text string) bool {
	name, rest, ok := strings.Cut(text, ":")
	if !ok || name == "" || strings.Trim(strings.ToLower(name), labelLetters+"+-.") != "" {
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
		if label == "" || len(label) > 63 || strings.Trim(label, labelLetters+"-") != "" {
			return false
		}
	}
	return true
}

const labelLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
