package oauth

import (
	"context"
	"encoding/json"
	"errors"

	"golang.org/x/oauth2"
)

// source gives the transport its tokens.
type source struct {
	h   *Handler
	ctx context.Context //nolint:containedctx // oauth2 hands none on
}

// Token returns a token that is valid, refreshed if need be. It is nil where a login is needed,
// which the server then says.
func (s *source) Token() (*oauth2.Token, error) {
	token, err := s.h.token(s.ctx)
	return token, s.h.naming(err)
}

// token returns the token of the last login, nil where there is none that can be used.
func (h *Handler) token(ctx context.Context) (*oauth2.Token, error) {
	h.mu.Lock()
	l := h.login
	h.mu.Unlock()
	if l == nil || !l.Token.Valid() {
		kept, err := h.kept.Load(ctx, keptName(h.server))
		if err != nil {
			return nil, err
		}
		l = h.set(h.read(kept))
	}
	switch {
	case l == nil || !secure(h.url):
		return nil, nil
	case l.Token.Valid():
		return l.Token, nil
	}
	return h.refresh(ctx, l.Token.AccessToken)
}

func (h *Handler) set(l *login) *login {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.login = l
	return l
}

// refresh gets another token than one that is of no use any more, and keeps it. Where somebody
// else has done so already, theirs counts: a refresh token may be good for one use only. It is
// nil where a login is needed.
func (h *Handler) refresh(ctx context.Context, stale string) (*oauth2.Token, error) {
	var now *login
	err := h.kept.Update(ctx, keptName(h.server), func(kept []byte) ([]byte, error) {
		l := h.read(kept)
		switch {
		case l == nil:
			return kept, nil
		case l.Token.AccessToken != stale && l.Token.Valid():
			now = l
			return kept, nil
		case l.Token.RefreshToken == "":
			return kept, nil
		}
		token, err := h.newFlow().refresh(ctx, l)
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
			h.logger.Info("a login to an MCP server has ended", "server", h.server)
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		l.Token, now = token, l
		return json.Marshal(l)
	})
	if err != nil {
		return nil, err
	}
	if h.set(now) == nil {
		return nil, nil
	}
	return now.Token, nil
}

// refresh asks the token endpoint of a login for another token.
func (f *flow) refresh(ctx context.Context, l *login) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime) // it may be good for one use only
	defer cancel()
	f.posts = []string{l.TokenURL}
	config := l.config(f.h)
	// The expired one makes the library ask for another, and keep the refresh token that it gets no new one for.
	token, err := config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, f.client), &oauth2.Token{RefreshToken: l.Token.RefreshToken}).Token()
	if err == nil && token.AccessToken == "" {
		err = errors.New("the authorization server gave no token")
	}
	return token, err
}

func (l *login) config(h *Handler) *oauth2.Config {
	secret := l.ClientSecret
	if h.auth.ClientID != "" {
		secret = h.auth.ClientSecret
	}
	return &oauth2.Config{
		ClientID: l.ClientID, ClientSecret: secret,
		Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: l.AuthStyle},
	}
}
