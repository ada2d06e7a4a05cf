package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// maxAnswer bounds what is read of an answer about authorization, in bytes, and requestTime how
// long it may take.
const (
	maxAnswer   = 1 << 20
	requestTime = 30 * time.Second
)

// flow is one authorization: an HTTP client that does what belongs to it, and nothing else. A
// document is fetched once, so that what was judged is what the SDK sees too.
type flow struct {
	h      *Handler
	client *http.Client
	next   http.RoundTripper
	// posts are the URLs that a code, a secret or a refresh token may be sent to.
	posts []string

	mu   sync.Mutex
	gets map[string]*document
}

type document struct {
	status int
	header http.Header
	body   []byte
}

func (h *Handler) newFlow() *flow {
	f := &flow{h: h, next: h.client.Transport, gets: make(map[string]*document)}
	f.client = &http.Client{
		Transport: f, Timeout: requestTime,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet {
				return fmt.Errorf("%s redirects what was meant for it alone to %s", via[0].URL.Host, brief(r.URL.Host))
			}
			return h.client.CheckRedirect(r, via)
		},
	}
	return f
}

// RoundTrip sends a request that belongs to the authorization.
func (f *flow) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	defer r.Body.Close()
	if !secure(r.URL.String()) {
		return nil, fmt.Errorf("%s is not https", brief(r.URL.Scheme+"://"+r.URL.Host))
	}
	if r.Method == http.MethodGet {
		return f.get(r)
	}
	if !slices.Contains(f.posts, r.URL.String()) {
		return nil, fmt.Errorf("nothing may be sent to %s in this login", brief(r.URL.Host))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		body = forResource(body, f.h.url)
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return f.next.RoundTrip(out)
}

// forResource names the resource in what is sent to a token endpoint, which the libraries leave
// out when they refresh a token (RFC 8707).
func forResource(body []byte, resource string) []byte {
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Has("resource") || !form.Has("grant_type") {
		return body
	}
	form.Set("resource", resource)
	return []byte(form.Encode())
}

// get fetches a document, or gives out again what was fetched before.
func (f *flow) get(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.URL.String()
	d := f.gets[key]
	if d == nil {
		answer, err := f.next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
		if err == nil && len(body) > maxAnswer {
			err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", brief(r.URL.Host+r.URL.Path), err)
		}
		d = &document{answer.StatusCode, answer.Header, body}
		f.gets[key] = d
	}
	return &http.Response{
		StatusCode: d.status, Status: strconv.Itoa(d.status) + " " + http.StatusText(d.status), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: d.header, Body: io.NopCloser(bytes.NewReader(d.body)), ContentLength: int64(len(d.body)),
	}, nil
}

// missing reports whether there is no document at a URL.
func (f *flow) missing(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.gets[key]
	return d != nil && d.status >= 400 && d.status < 500
}

// request stands for a request that the server refused.
func (f *flow) request(ctx context.Context) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.h.url, http.NoBody)
	if err != nil {
		r = (&http.Request{URL: &url.URL{}, Header: make(http.Header)}).WithContext(ctx) // settings hold no such URL
	}
	return r
}

// found is the authorization server of an MCP server.
type found struct {
	issuer string
	meta   *oauthex.AuthServerMeta // nil where it publishes none
}

// inspect finds the authorization server as the SDK does after it, and refuses what that lets
// pass. Afterwards the flow can send to the endpoints for tokens and registrations.
func (f *flow) inspect(ctx context.Context, refused *http.Response) (*found, error) {
	if !secure(f.h.url) {
		return nil, errors.New("its URL is not https, so that a token would be sent in the clear")
	}
	issuer, err := f.issuer(ctx, refused)
	if err != nil {
		return nil, err
	}
	if want := f.h.auth.Issuer; want != "" && !sameIssuer(want, issuer) {
		return nil, fmt.Errorf("its authorization server is %s, and the settings name the issuer %s", brief(issuer), want)
	}
	if f.h.auth.ClientSecret != "" {
		if err := f.belongs(issuer, f.h.url); err != nil { // whose the secret is, nobody said
			return nil, fmt.Errorf("it names another host for a login, which would get the client's secret: %w", err)
		}
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, f.client)
	if err != nil {
		return nil, fmt.Errorf("its authorization server %s: %w", brief(issuer), err)
	}
	token, register := issuer+"/token", issuer+"/register"
	if meta != nil {
		token, register = meta.TokenEndpoint, meta.RegistrationEndpoint
		if !slices.Contains(meta.CodeChallengeMethodsSupported, "S256") {
			return nil, fmt.Errorf("its authorization server %s knows no PKCE by S256", brief(issuer))
		}
	}
	for what, endpoint := range map[string]string{"tokens": token, "registrations": register} {
		if err := f.belongs(endpoint, issuer); err != nil {
			return nil, fmt.Errorf("its authorization server %s has its endpoint for %s elsewhere: %w", brief(issuer), what, err)
		}
	}
	f.posts = []string{token, register}
	return &found{issuer, meta}, nil
}

// issuer finds the issuer of a server's tokens by its metadata. Without any, the server itself is
// it, as in the revision of 2025-03-26.
func (f *flow) issuer(ctx context.Context, refused *http.Response) (string, error) {
	here, err := url.Parse(f.h.url)
	if err != nil {
		return "", err
	}
	root := (&url.URL{Scheme: here.Scheme, Host: here.Host}).String()
	const known = "/.well-known/oauth-protected-resource"
	places := [][2]string{{metadataURL(refused), f.h.url}, {root + known + "/" + strings.TrimLeft(here.Path, "/"), f.h.url}, {root + known, root}}
	var wrong error
	for _, place := range places {
		if place[0] == "" {
			continue
		}
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, place[0], place[1], f.client)
		switch {
		case err == nil && len(meta.AuthorizationServers) > 0:
			return meta.AuthorizationServers[0], nil
		case err == nil:
			return "", errors.New("its metadata names no authorization server")
		case wrong == nil && !f.missing(place[0]):
			wrong = fmt.Errorf("its metadata at %s: %w", brief(place[0]), err)
		}
	}
	return root, wrong
}

// metadataURL is where a refusing answer says that the server's metadata is.
func metadataURL(refused *http.Response) string {
	challenges, _ := oauthex.ParseWWWAuthenticate(refused.Header.Values("WWW-Authenticate")) // the SDK reports it
	for _, c := range challenges {
		if u := c.Params["resource_metadata"]; u != "" {
			return u
		}
	}
	return ""
}

// belongs wants an endpoint on the host of its issuer, or an issuer on that of its server, unless the settings name one of both.
func (f *flow) belongs(endpoint, issuer string) error {
	if endpoint == "" || f.h.auth.Issuer != "" {
		return nil
	}
	there, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	home, err := url.Parse(issuer)
	if err != nil {
		return err
	}
	named := func(name string) bool {
		return permissions.HostOf(name).Name == permissions.HostOf(there.Hostname()).Name
	}
	if strings.EqualFold(there.Hostname(), home.Hostname()) || slices.ContainsFunc(f.h.named, named) {
		return nil
	}
	return fmt.Errorf("%s; if that is right, set issuer in [mcp.%s.auth], or add that host to its network", brief(there.Host), f.h.server)
}

// secure reports whether what is sent to a URL is seen by nobody else.
func secure(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && a.IsLoopback())
}

// plain cuts an error with what other parties say in it down to a line that is safe to show.
func plain(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response != nil {
		text := fmt.Sprintf("the token endpoint answered %d", refused.Response.StatusCode)
		if refused.ErrorCode != "" {
			text += ", " + brief(refused.ErrorCode+" "+refused.ErrorDescription)
		}
		return &visible.Error{Text: text, Err: err}
	}
	return &visible.Error{Text: visible.Short(strings.ReplaceAll(err.Error(), "\n", " "), 500), Err: err}
}

// brief makes a text of another party safe to show.
func brief(text string) string { return visible.Short(text, 200) }
