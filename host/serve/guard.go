package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that a web page made a browser send.
type guard struct {
	hosts   []string
	origins []string
	cross   *http.CrossOriginProtection
}

// loopbackNames are what this machine calls itself.
var loopbackNames = []string{"localhost", "127.0.0.1", "::1"}

func newGuard(o Options) (*guard, error) {
	g := &guard{hosts: slices.Clone(loopbackNames), cross: http.NewCrossOriginProtection()}
	for _, name := range o.Hosts {
		if name == "" || hostName(name) != canonicalHost(name) || strings.ContainsAny(name, "/@ *") {
			return nil, fmt.Errorf("host %q: write a name or an address without port, such as tools.example.com", name)
		}
		g.hosts = append(g.hosts, canonicalHost(name))
	}
	for _, origin := range o.Origins {
		err := g.cross.AddTrustedOrigin(origin)
		if u, bad := url.Parse(origin); bad == nil && err == nil && u.Scheme != "http" && u.Scheme != "https" {
			err = errors.New("its scheme is neither http nor https")
		}
		if err != nil {
			return nil, fmt.Errorf("origin %q: %w; write it as browsers do, such as https://app.example.com", origin, err)
		}
		g.origins = append(g.origins, origin)
	}
	return g, nil
}

// check refuses a request to a name that is not the server's, or from a page that may not
// use it.
func (g *guard) check(r *http.Request) *refusal {
	if name := hostName(r.Host); !slices.Contains(g.hosts, name) && !isLocal(r, name) {
		return refuse(http.StatusForbidden, "wrong_host",
			"the Host header names %.100q, which this server does not answer to; start it with --host and that name if it should", r.Host)
	}
	// Streams are opened by GET, which the standard library takes to be harmless.
	probe := *r
	probe.Method = http.MethodPost
	if err := g.cross.Check(&probe); err != nil {
		return refuse(http.StatusForbidden, "wrong_origin",
			"a web page of the origin %.100q may not use this server; start it with --origin and that origin if it should", r.Header.Get("Origin"))
	}
	return nil
}

// isLocal reports whether a name is the address at which the request arrived.
func isLocal(r *http.Request, name string) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	named, bad := netip.ParseAddr(name)
	return err == nil && bad == nil && at.Addr().Unmap() == named.Unmap()
}

// hostName is the name in a Host header, without port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return canonicalHost(host)
}

// canonicalHost is a name as it is compared.
func canonicalHost(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// share lets the page that sent a request read the answer, and reports whether the request
// asked for no more than that.
func (g *guard) share(w http.ResponseWriter, r *http.Request) (done bool) {
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(g.origins, origin) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", "*")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, *") // the star does not stand for the first
	w.WriteHeader(http.StatusNoContent)
	return true
}
