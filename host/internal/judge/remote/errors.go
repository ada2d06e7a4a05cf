package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Kind says what sort of failure an [Error] is.
type Kind string

// The kinds of failure.
const (
	// KindKey: there is no key, or the server refuses it.
	KindKey Kind = "key"
	// KindRequest: the request cannot be made, or the server finds it wrong.
	KindRequest Kind = "request"
	// KindLimit: the server has no room for the request now.
	KindLimit Kind = "limit"
	// KindServer: the server failed, or sends elsewhere.
	KindServer Kind = "server"
	// KindConnection: the server cannot be reached, or the connection broke.
	KindConnection Kind = "connection"
	// KindTime: the time was over.
	KindTime Kind = "time"
	// KindAnswer: the answer is not one of the protocol's, or none.
	KindAnswer Kind = "answer"
)

// Error is why a prompt was not completed.
type Error struct {
	Kind Kind
	// Status is the HTTP status, or 0.
	Status int
	// Tries is how often the request was made.
	Tries int
	// Err says more. It holds no key.
	Err error

	temporary bool
	after     time.Duration
}

// Error says what failed and what to do about it.
func (e *Error) Error() string {
	text := map[Kind]string{
		KindKey:        "the model's server does not take the key; check it",
		KindRequest:    "the request to the model is wrong; check the model's name and the base URL",
		KindLimit:      "the model's server has no room now",
		KindServer:     "the model's server failed",
		KindConnection: "the model's server cannot be reached; check the base URL",
		KindTime:       "the model did not answer in time",
		KindAnswer:     "the model's server gave no usable answer",
	}[e.Kind]
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Tries > 1 {
		text += fmt.Sprintf(", tried %d times", e.Tries)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// broken is the error of a request without a response, or with half of one.
func broken(ctx context.Context, err error, key string) *Error {
	if ctx.Err() != nil {
		kind := KindTime
		if errors.Is(context.Cause(ctx), context.Canceled) {
			kind = KindConnection
		}
		return &Error{Kind: kind, Err: context.Cause(ctx)}
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the method and URL, which say nothing more
	}
	return &Error{Kind: KindConnection, Err: redacted(err, key), temporary: true}
}

// refusal is the error of a response that is not 200.
func refusal(res *http.Response, body []byte, key string) *Error {
	e := &Error{Kind: KindRequest, Status: res.StatusCode}
	switch {
	case res.StatusCode < 300:
		e.Kind = KindAnswer
	case res.StatusCode < 400:
		e.Kind, e.Err = KindServer, elsewhere(res)
		return e
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		e.Kind = KindKey
		return e // servers repeat parts of the key in what they say to this
	case res.StatusCode == http.StatusTooManyRequests:
		e.Kind, e.temporary = KindLimit, true
	case res.StatusCode >= 500:
		e.Kind, e.temporary = KindServer, true
	}
	e.after = retryAfter(res.Header)
	if said := saidWhy(body, key); said != "" {
		e.Err = errors.New(said)
	}
	return e
}

func elsewhere(res *http.Response) error {
	if to, err := res.Location(); err == nil {
		return fmt.Errorf("it sends elsewhere, to %s, which is not followed; if that is right, write it in the base URL", quote(to.Host))
	}
	return errors.New("it sends elsewhere, which is not followed")
}

// saidWhy reads the type and message of an error, which both APIs write the same
// way; OpenAI's type may be null. The key is taken out before anything is cut.
func saidWhy(body []byte, key string) string {
	var said struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	out := said.Error.Message
	if said.Error.Type != "" {
		out = strings.TrimSuffix(said.Error.Type+": "+out, ": ")
	}
	if key != "" {
		out = strings.ReplaceAll(out, key, "[key]")
	}
	return quote(out)
}

// maxSaid bounds what is passed on of a server's words, in bytes.
const maxSaid = 400

// quote shows a server's words as one line.
func quote(text string) string {
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "..."
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// redacted takes a key out of an error. Its type goes only where the key is in it.
func redacted(err error, key string) error {
	if key == "" || !strings.Contains(err.Error(), key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), key, "[key]"))
}
