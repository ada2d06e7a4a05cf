package turn

import "context"

// Token is held by the one turn of a session that runs, or by the one reload of plugins.
// Those who wait get it in the order of asking.
type Token chan struct{}

// NewToken makes a token that nobody holds.
func NewToken() Token { return make(Token, 1) }

// Take waits for the token, and reports false if ctx ends first.
func (t Token) Take(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// TryTake takes the token if nobody holds it.
func (t Token) TryTake() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// Give gives the token back.
func (t Token) Give() { <-t }
