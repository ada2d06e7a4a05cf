package oauthtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
)

// Browser is a person who opens pages at once.
type Browser struct {
	// Stays has them open none, so that what they enter counts. Enter returns that; nil waits
	// for the browser.
	Stays bool
	Enter func(page string) string
	// Page is what they were asked to open.
	Page string
}

// Visit opens a page, whatever it says.
func (b *Browser) Visit(ctx context.Context, page string) error {
	b.Page = page
	if b.Stays {
		return nil
	}
	_, err := Get(ctx, page)
	return err
}

// Get opens a page that is at any address of the loopback, and returns its text. That is empty
// where the context ends first.
func Get(ctx context.Context, page string) (string, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(addr)
		var d net.Dialer
		return d.DialContext(ctx, network, "127.0.0.1:"+port)
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(r)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return "", nil
		}
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// Paste enters what the person would.
func (b *Browser) Paste(ctx context.Context) (string, error) {
	if b.Enter != nil {
		return b.Enter(b.Page), nil
	}
	<-ctx.Done()
	return "", context.Cause(ctx)
}
