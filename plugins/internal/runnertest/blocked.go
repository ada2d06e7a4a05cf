package runnertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// Waits tries a call in which a guest waits for longer than its own limit of time, as
// with waits. On a busy machine the guest itself may use up a short limit, so that the
// call fails and is tried with a long one: where waiting counts, that fails too.
func Waits(t *testing.T, call func(limit time.Duration) error) {
	t.Helper()
	if err := call(200 * time.Millisecond); err == nil {
		return
	}
	if err := call(time.Second); err != nil {
		t.Error(err)
	}
}

func waits(limit time.Duration) func(*plugins.Module) {
	return func(m *plugins.Module) { m.Limits.Time = limit }
}

// testSlowCapability: the guest's own clock stands still meanwhile.
func testSlowCapability(t *testing.T, s *Suite) {
	t.Helper()
	t.Parallel()
	Waits(t, func(limit time.Duration) error {
		g := s.load(t, "pass_through", waits(limit))
		result, err := g.Call(t.Context(), g.asking(func(ctx context.Context, r abi.Request) (abi.Answer, error) {
			time.Sleep(limit + limit/2)
			return Echoing("at last")(ctx, r)
		}))
		if err == nil && result.Text() != "at last" {
			t.Errorf("got %q", result.Text())
		}
		return err
	})
}

// testBlockedCapability has a guest that waits for a capability, with nothing but
// the call's context to end it.
func testBlockedCapability(t *testing.T, s *Suite) {
	t.Helper()
	t.Parallel()
	Waits(t, func(limit time.Duration) (early error) {
		g := s.load(t, "read_answer", waits(limit))
		deadline := limit + limit/2
		testenv.InTime(t, deadline+slack, func() time.Duration {
			released := make(chan struct{})
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			_, err := g.Call(ctx, g.asking(func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
				<-ctx.Done()
				close(released)
				return abi.Answer{}, ctx.Err()
			}))
			took := time.Since(began)
			if early = nil; took < deadline || strings.Contains(fmt.Sprint(err), "limit time") {
				early = fmt.Errorf("after %v of %v: %w", took, deadline, err)
				return took
			}
			WantCode(t, err, abi.CodeTimeout, "time limit")
			<-released
			return took
		})
		return early
	})
}

// testDeafCapability has one that does not notice that its call is over, and then
// answers with a body that never comes.
func testDeafCapability(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "read_answer", patient)
	testenv.InTime(t, gentle, func() time.Duration {
		release, body := make(chan struct{}), newBlockedBody()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := make(chan struct{})
		ended := background(ctx, g, g.asking(func(context.Context, abi.Request) (abi.Answer, error) {
			close(asked)
			<-release
			return abi.Answer{OK: struct{}{}, Body: body, Size: -1}, nil
		}))
		<-asked
		began := time.Now()
		cancel()
		err := <-ended
		took := time.Since(began)
		WantCode(t, err, abi.CodeCancelled, "cancelled")
		close(release)
		<-body.closed
		return took
	})
}

// gentle is the longest that a call takes to end whose guest waits: a worker whose
// calls do not end is killed after a second.
const gentle = 900 * time.Millisecond

// testBlockedBody cancels a call that waits for bytes of an answer: one that the
// guest reads, and one that it handed on.
func testBlockedBody(t *testing.T, s *Suite) {
	t.Helper()
	for name, size := range map[string]int64{"size unknown": -1, "size known": 100} {
		for _, guest := range []string{"read_answer", "pass_through"} {
			t.Run(guest+", "+name, func(t *testing.T) {
				g := s.load(t, guest, patient)
				testenv.InTime(t, gentle, func() time.Duration { return g.cancelReading(t, size) })
			})
		}
	}
}

// testEndingBody cancels a call while it reads a body that the same end makes look
// complete: half an answer is none.
func testEndingBody(t *testing.T, s *Suite) {
	t.Helper()
	for _, guest := range []string{"read_answer", "pass_through"} {
		t.Run(guest, func(t *testing.T) {
			g := s.load(t, guest, patient)
			reading := make(chan struct{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := background(ctx, g, g.asking(func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
				return abi.Answer{OK: struct{}{}, Body: &endingBody{ctx: ctx, reading: reading}, Size: -1}, nil
			}))
			<-reading
			cancel(errors.New("the user went home"))
			WantCode(t, <-ended, abi.CodeCancelled, "the user went home")
		})
	}
}

// cancelReading is how long a call lasts that is cancelled while it waits for the
// bytes of an answer.
func (g *guest) cancelReading(t *testing.T, size int64) time.Duration {
	t.Helper()
	body := newBlockedBody()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended := background(ctx, g, g.asking(Answering(abi.Answer{OK: struct{}{}, Body: body, Size: size})))
	<-body.reading
	began := time.Now()
	cancel(errors.New("the user went home"))
	select {
	case err := <-ended:
		WantCode(t, err, abi.CodeCancelled, "the user went home")
	case <-time.After(testenv.Patience / 2): // before its own time is up
		_ = body.Close()
		t.Fatal("the call outlives its context")
	}
	took := time.Since(began)
	<-body.closed
	return took
}
