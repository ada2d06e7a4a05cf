package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// principal is a token in force, with the handlers that answer its requests.
type principal struct {
	token *Token
	// ctx ends with the token.
	ctx context.Context
	end context.CancelCauseFunc
	// slots has an element for each request under way.
	slots chan struct{}

	mu       sync.Mutex
	handlers map[string]http.Handler // by mount point
}

// errRevoked is why the requests of a token end that is no longer in force.
var errRevoked = errors.New("the token was revoked or changed")

func newPrincipal(t *Token, requests int) *principal {
	p := &principal{token: t, slots: make(chan struct{}, requests), handlers: make(map[string]http.Handler)}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return p
}

// handler returns what answers at a mount point, which is mounted first if need be.
func (p *principal) handler(at string, mount Mount) (http.Handler, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return nil, context.Cause(p.ctx)
	}
	if h := p.handlers[at]; h != nil {
		return h, nil
	}
	h, err := mount(p.token)
	if err == nil {
		p.handlers[at] = h
	}
	return h, err
}

// closeTime is how long a handler gets to close.
const closeTime = 5 * time.Second

// close ends the principal's requests and closes its handlers.
func (p *principal) close(cause error) error {
	p.end(cause)
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var err error
	for at, h := range p.handlers {
		if c, ok := h.(closer); ok {
			if failed := c.Close(ctx); failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", at, failed))
			}
		}
	}
	clear(p.handlers)
	return err
}

// principals are the tokens in force.
type principals struct {
	requests int

	mu   sync.RWMutex
	list []*principal
	// unusable is why nobody is let in, where the file of tokens cannot be used.
	unusable error
}

// anonymous is the token of everybody where tokens are not asked for.
var anonymous = &Token{Name: "none"}

// set puts tokens into force, and returns the principals that are no longer. Tokens that are
// as they were go on. An error has nobody let in until the next time, and ends nobody.
func (s *principals) set(tokens []*Token, err error) (gone []*principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unusable = err; err != nil {
		return nil
	}
	known := make(map[Token]*principal)
	for _, p := range s.list {
		known[*p.token] = p
	}
	s.list = nil
	for _, t := range tokens {
		p := known[*t]
		if p == nil {
			p = newPrincipal(t, s.requests)
		}
		delete(known, *t)
		s.list = append(s.list, p)
	}
	for _, p := range known {
		gone = append(gone, p)
	}
	return gone
}

// errUnknownToken is what a token is refused with that no principal has.
var errUnknownToken = errors.New("this token is not known here")

// find returns the principal of a token. It takes as long for each token, whether or not one
// is like it.
func (s *principals) find(token string) (*principal, error) {
	sum := sha256.Sum256([]byte(token))
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.unusable != nil {
		return nil, s.unusable
	}
	var found *principal
	for _, p := range s.list {
		if subtle.ConstantTimeCompare(sum[:], p.token.sum[:]) == 1 {
			found = p
		}
	}
	if found == nil {
		return nil, errUnknownToken
	}
	return found, nil
}

// only returns the principal of a server without tokens.
func (s *principals) only() (*principal, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.list) == 0 {
		return nil, errEnding
	}
	return s.list[0], nil
}
