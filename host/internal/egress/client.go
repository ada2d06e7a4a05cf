package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// maxHeader bounds the header of an answer, in bytes.
const maxHeader = 64 << 10

// Transport makes a transport whose connections are judged. Ten seconds are for
// connecting and ten for TLS, 64 KiB for the header of an answer; how long an answer may
// take, and how large its body may be, are for the caller. Requests on a connection that
// is open already are not judged again: use [Dialer.Client] where a request's URL, or
// redirects, come from others.
func (d *Dialer) Transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			n, _ := strconv.ParseUint(port, 10, 16) // 0 is refused
			conn, _, err := d.Dial(ctx, host, int(n))
			return conn, err
		},
		TLSHandshakeTimeout:    connecting,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // a bound on what is read is then one on what is sent
		ForceAttemptHTTP2:      true,
	}
}

// Client makes a client that judges each request and each redirect. It follows at most 10
// redirects, none from https to http. To another origin it takes along no header but a
// few harmless ones, and no body.
func (d *Dialer) Client() *http.Client {
	return &http.Client{Transport: &judged{d, d.Transport()}, CheckRedirect: d.checkRedirect}
}

// judged judges each request before it is sent.
type judged struct {
	dialer *Dialer
	next   *http.Transport
}

// RoundTrip refuses a request that may not be sent, and sends others.
func (j *judged) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := j.dialer.judgeURL(r.Context(), r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return j.next.RoundTrip(r)
}

// CloseIdleConnections closes the connections that carry no request.
func (j *judged) CloseIdleConnections() { j.next.CloseIdleConnections() }

// judgeURL judges a URL as a whole, then host and port.
func (d *Dialer) judgeURL(ctx context.Context, u *url.URL) error {
	text := u.Scheme + "://" + u.Host
	if u.User != nil {
		text = u.Scheme + "://user@" + u.Host // what it was is nobody's business
	}
	if h := permissions.HostOf(text); h.Odd != "" {
		return d.refuse(&Refusal{Printable(u.Host), portOf(u), "its host cannot be determined reliably: " + h.Odd, ""})
	}
	_, _, err := d.judge(ctx, u.Hostname(), portOf(u))
	return err
}

// maxRedirects is how many redirects are followed for one request.
const maxRedirects = 10

// checkRedirect judges where an answer points. Its headers must not reach another origin,
// not even one that leads back.
func (d *Dialer) checkRedirect(r *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	switch {
	case len(via) > maxRedirects:
		return errors.New("there were more than 10 redirects")
	case last.URL.Scheme == "https" && r.URL.Scheme != "https":
		return d.refuse(&Refusal{Printable(r.URL.Host), portOf(r.URL), "an https URL redirects to it, which is not https", ""})
	}
	first := via[0].URL
	strays := func(v *http.Request) bool { return !sameOrigin(v.URL, first) }
	if !strays(r) && !slices.ContainsFunc(via, strays) {
		return nil
	}
	if r.Body != nil && r.Body != http.NoBody {
		return d.refuse(&Refusal{Printable(r.URL.Host), portOf(r.URL),
			first.Host + " redirects a request with a body to it, which is another origin", "Set the URL that it redirects to, if that is to be trusted."})
	}
	for name := range r.Header {
		if !slices.Contains([]string{"Accept", "Accept-Language", "User-Agent"}, name) {
			delete(r.Header, name)
		}
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}
