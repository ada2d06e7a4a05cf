package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Pattern is the host pattern of a rule, the text after "domain:".
type Pattern struct {
	name string
	// sub makes the pattern match the names below name, and not name itself. With an
	// empty name it matches every host.
	sub bool
}

// Every is the pattern that matches every host.
var Every = &Pattern{sub: true}

// ParsePattern reads a host, *.host for the names below it, or * for every host.
func ParsePattern(text string) (*Pattern, error) {
	p := &Pattern{name: text}
	if text == "*" {
		return Every, nil
	}
	p.name, p.sub = strings.CutPrefix(text, "*.")
	if strings.ContainsAny(p.name, "*?") {
		return nil, errors.New("a wildcard in a host stands only before its first dot, as in *.example.com")
	}
	h := Of(p.name)
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

func (p *Pattern) match(name string) bool {
	if !p.sub || p.name == "" {
		return p.sub || p.name == name
	}
	rest, ok := strings.CutSuffix(name, p.name)
	return ok && strings.HasSuffix(rest, ".") && len(rest) > 1
}

// Allows reports whether an allow rule with this pattern covers a host.
func (p *Pattern) Allows(h *Host) bool { return h.Odd == "" && p.match(h.Name) }

// Names reports whether the pattern allows a host by its name, and not because it matches
// every host. Local hosts must be named.
func (p *Pattern) Names(h *Host) bool { return p.name != "" && p.Allows(h) }

// HoldsBack reports whether a deny or ask rule with this pattern covers any host that may
// be dialled.
func (p *Pattern) HoldsBack(h *Host) bool {
	return h.any || p.name == "" || slices.ContainsFunc(h.readings, p.match)
}
