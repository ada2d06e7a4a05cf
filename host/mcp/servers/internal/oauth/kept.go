package oauth

import (
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/oauth2"
)

// login is what a login gave, as it is kept. It counts for the server, URL, issuer and client
// that it was made for, and for nothing else.
type login struct {
	Server   string `json:"server"`
	Resource string `json:"resource"`
	Issuer   string `json:"issuer"`

	ClientID string `json:"client_id"`
	// ClientSecret is that of a client that was registered; one of the settings is not kept.
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_endpoint"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

// read reads what is kept, nil where it is of no use here any more.
func (h *Handler) read(kept []byte) *login {
	var l login
	if len(kept) == 0 {
		return nil
	}
	if err := json.Unmarshal(kept, &l); err != nil {
		h.logger.Warn("what was kept of a login to an MCP server cannot be read", "server", h.server, "error", err)
		return nil
	}
	a := &h.auth
	if l.Token == nil || l.Server != h.server || l.Resource != h.url ||
		a.Issuer != "" && !sameIssuer(a.Issuer, l.Issuer) || a.ClientID != "" && a.ClientID != l.ClientID {
		return nil
	}
	return &l
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// keptName is what the login to a server is kept under.
func keptName(server string) string { return "mcp/" + server }

// Forget forgets what a login gave; it reports whether there was one.
func Forget(ctx context.Context, kept Credentials, server string) (bool, error) {
	var was bool
	err := kept.Update(ctx, keptName(server), func(kept []byte) ([]byte, error) {
		was = kept != nil
		return nil, nil
	})
	return was, err
}
