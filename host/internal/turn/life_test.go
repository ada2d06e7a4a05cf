package turn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/host/internal/turn"
)

var errEnd = errors.New("the end")

// TestLife has a turn end with its session, with its own context, or by itself.
func TestLife(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(l *turn.Life, s *turn.Span, cancel context.CancelCauseFunc)
		want error
	}{
		"session":     {func(l *turn.Life, _ *turn.Span, _ context.CancelCauseFunc) { l.End(errEnd) }, errEnd},
		"own context": {func(_ *turn.Life, _ *turn.Span, cancel context.CancelCauseFunc) { cancel(errEnd) }, errEnd},
		"cancelled":   {func(_ *turn.Life, s *turn.Span, _ context.CancelCauseFunc) { s.Cancel(errEnd) }, errEnd},
		"released":    {func(_ *turn.Life, s *turn.Span, _ context.CancelCauseFunc) { s.Release() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := turn.NewLife()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			s := l.During(ctx)
			if err := context.Cause(s.Ctx); err != nil {
				t.Fatalf("the turn ended at once: %v", err)
			}
			test.end(l, &s, cancel)
			<-s.Ctx.Done()
			if err := context.Cause(s.Ctx); !errors.Is(err, test.want) {
				t.Errorf("the turn ended with %v, want %v", err, test.want)
			}
		})
	}
}

// TestLifeAfterEnd has a turn that begins after the end of its session end at once.
func TestLifeAfterEnd(t *testing.T) {
	t.Parallel()
	l := turn.NewLife()
	l.End(errEnd)
	s := l.During(t.Context())
	defer s.Release()
	if err := context.Cause(s.Ctx); !errors.Is(err, errEnd) {
		t.Errorf("the turn has %v, want %v", err, errEnd)
	}
}

// TestLifeRest lets what calls leave behind go on for five seconds after the end.
func TestLifeRest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ takes, want time.Duration }{
		"short": {time.Second, time.Second},
		"long":  {time.Hour, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := turn.NewLife()
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				l.After(ended, func(ctx context.Context) {
					select {
					case <-time.After(test.takes):
					case <-ctx.Done():
					}
				})
				l.End(errEnd)
				began := time.Now()
				l.EndRest(t.Context())
				if got := time.Since(began); got != test.want {
					t.Errorf("it took %v, want %v", got, test.want)
				}
			})
		})
	}
}

// TestToken gives the token to one at a time.
func TestToken(t *testing.T) {
	t.Parallel()
	token := turn.NewToken()
	if !token.Take(t.Context()) || token.TryTake() {
		t.Fatal("the token was not taken once")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if token.Take(ctx) {
		t.Error("a held token was taken")
	}
	token.Give()
	if !token.TryTake() {
		t.Error("the token was not given back")
	}
}
