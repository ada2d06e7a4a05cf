package host

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/toolquay/toolquay/host/internal/egress"
	"github.com/toolquay/toolquay/permissions"
)

// Outgoing says which of an embedder's HTTP requests the host lets out, see [Host.HTTPClient].
type Outgoing struct {
	// Configured are the URLs that the settings name. The host and port of each may be local if
	// its spelling says so, such as localhost or an address.
	Configured []string
	// Named are further hosts that may be local, by exact name.
	Named []string
	// Proxy is the HTTP proxy to go through; nil is none.
	Proxy *url.URL
}

// HTTPClient makes a client for requests on the host's own behalf, such as to an MCP server.
// Each request, redirect and address is judged before it is dialled: a host that a deny rule
// names is refused, and so is one on this machine or a private network, unless o or an allow
// rule on WebFetch names it. Nothing of the environment is used: no proxy, cookies or
// credentials.
func (h *Host) HTTPClient(o Outgoing) *http.Client {
	named := make(map[string]bool)
	for _, name := range o.Named {
		named[permissions.HostOf(name).Name] = true
	}
	return egress.New(egress.Options{
		Configured: o.Configured, Proxy: o.Proxy, Logger: h.options.Observe.Logger,
		Allow: func(_ context.Context, host string, port int) error {
			policy, err := h.ownPolicy()
			switch {
			case err != nil:
				return fmt.Errorf("the rules cannot be used: %w", err)
			case policy.DeniesHost(webFetch, host):
				return &egress.Refusal{Host: host, Port: port, Why: "a deny rule covers it"}
			}
			return nil
		},
		Named: func(host string) bool {
			policy, err := h.ownPolicy()
			return named[host] || err == nil && policy.NamesHost(host)
		},
	}).Client()
}

// webFetch is the tool whose rules are about hosts.
const webFetch = "WebFetch"

// ownRules are the settings for what the host does itself, once they were needed.
type ownRules struct {
	mu sync.Mutex
	by *programPolicy
}

// ownPolicy is what the settings say now where no session is concerned.
func (h *Host) ownPolicy() (*permissions.Policy, error) {
	h.own.mu.Lock()
	defer h.own.mu.Unlock()
	if h.own.by == nil {
		by, err := h.programRules(&Program{Name: "of the host"})
		if err != nil {
			return nil, err
		}
		h.own.by = by
	}
	return h.own.by.Policy(), nil
}
