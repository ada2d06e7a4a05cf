package otlp

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer bounds what is read of a refusal, so that the connection can be used again.
const maxAnswer = 64 << 10

// client is the HTTP client for a target. It follows no redirect: what goes with a
// request is meant for the receiver alone.
func (t *Target) client(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Transport: terse{&http.Transport{
			Proxy:               proxy,
			TLSClientConfig:     t.TLS,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        1,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 10 * time.Second,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       t.limit(),
	}
}

// terse has refusals say their status alone. What else a receiver has to say, such as
// the request with its headers, would end in the log.
type terse struct{ *http.Transport }

// RoundTrip does one request.
func (t terse) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err != nil || answer.StatusCode/100 == 2 {
		return answer, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // it is for nobody
	answer.Body.Close()
	answer.Body = io.NopCloser(strings.NewReader(answer.Status))
	return answer, nil
}
