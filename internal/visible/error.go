package visible

import (
	"net/url"
	"strings"
)

// Error is an error with what strangers say in it, whose text was made safe to show.
type Error struct {
	Text string
	Err  error // as it was
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the error as it was.
func (e *Error) Unwrap() error { return e.Err }

// WithoutQuery is an error that does not tell the query of a URL, which may hold a secret.
func WithoutQuery(address string, err error) error {
	u, bad := url.Parse(address)
	if err == nil || bad != nil || u.RawQuery == "" || !strings.Contains(err.Error(), u.RawQuery) {
		return err
	}
	return &Error{strings.ReplaceAll(err.Error(), u.RawQuery, "…"), err}
}
