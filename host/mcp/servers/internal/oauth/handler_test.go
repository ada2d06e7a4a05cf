package oauth

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/host/internal/credentials"
	"github.com/toolquay/toolquay/host/internal/egress"
	"github.com/toolquay/toolquay/internal/test/oauthtest"
)

// handler is what authorizes the requests to the realm's MCP server. Tests change its options.
func handler(t *testing.T, w *oauthtest.Realm, dir string, change func(*Options)) *Handler {
	t.Helper()
	o := Options{
		Server: "docs", URL: w.Home(), Network: []string{"127.0.0.2"},
		Kept: credentials.InFiles(filepath.Join(dir, "credentials")), Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	o.Client = client(&o)
	return New(o)
}

// client connects to hosts of all names on the loopback.
func client(o *Options) *http.Client {
	named := func(host string) bool { return slices.Contains(o.Network, host) }
	configured := []string{o.URL}
	if o.Auth != nil {
		configured = append(configured, o.Auth.Issuer)
	}
	return egress.New(egress.Options{Named: named, Configured: configured, Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(to.Port()))))
	}}).Client()
}

// authorized makes a request as the SDK's transport does, and returns its status.
func authorized(ctx context.Context, h *Handler) (int, error) {
	once := func() (*http.Request, *http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, http.NoBody)
		if err != nil {
			return nil, nil, err
		}
		ts, err := h.TokenSource(ctx)
		if err != nil {
			return nil, nil, err
		}
		if ts != nil {
			token, err := ts.Token()
			if err != nil {
				return nil, nil, err
			}
			if token != nil {
				r.Header.Set("Authorization", "Bearer "+token.AccessToken)
			}
		}
		answer, err := h.client.Do(r)
		return r, answer, err
	}
	r, answer, err := once()
	if err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		return answer.StatusCode, answer.Body.Close()
	}
	if err := h.Authorize(ctx, r, answer); err != nil {
		return answer.StatusCode, err
	}
	if _, answer, err = once(); err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
