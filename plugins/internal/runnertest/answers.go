package runnertest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

func testAnswers(t *testing.T, s *Suite) {
	t.Helper()
	for name, test := range map[string]struct {
		guest string
		body  string
		size  int64
	}{
		"handed on unread":               {"pass_through", strings.Repeat("0123456789", 5000), 50_000},
		"handed on unread, size unknown": {"pass_through", strings.Repeat("0123456789", 50_000), -1},
		"handed on unread, empty":        {"pass_through", "", 0},
		"read in pieces":                 {"read_answer", "0123456789", 10}, // short: its header must be UTF-8 too
	} {
		t.Run(name, func(t *testing.T) {
			inv := s.invocation("{}")
			var asked []abi.Request
			inv.Capability = func(_ context.Context, r abi.Request) (abi.Answer, error) {
				asked = append(asked, r)
				return abi.Answer{OK: struct{}{}, Body: io.NopCloser(strings.NewReader(test.body)), Size: test.size}, nil
			}
			result, err := s.load(t, test.guest, patient).Call(t.Context(), inv)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(result.Text(), test.body) || test.guest == "pass_through" && result.Text() != test.body {
				t.Errorf("got %.60q", result.Text())
			}
			if len(asked) != 1 || asked[0].Name != "test.echo" || string(asked[0].Args) != `{"n":1}` {
				t.Errorf("the gate was asked for %v", asked)
			}
		})
	}
	t.Run("no body", func(t *testing.T) {
		inv := s.invocation("{}")
		inv.Capability = answering(abi.Answer{OK: struct{}{}})
		if result, err := s.load(t, "pass_through").Call(t.Context(), inv); err != nil || result.Text() != "" {
			t.Errorf("got %q, %v", result.Text(), err)
		}
	})
}

func testRefused(t *testing.T, s *Suite) {
	t.Helper()
	inv := s.invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{}, abi.Errorf(abi.CodeDenied, "the rule Read(./x) says no")
	}
	_, err := s.load(t, "pass_through").Call(t.Context(), inv)
	wantCode(t, err, abi.CodeDenied, "Read(./x)")
}

// testPanickingAnswers has defects of an embedder's. Each is that call's failure
// and nothing else's.
func testPanickingAnswers(t *testing.T, s *Suite) {
	t.Helper()
	closer := io.NopCloser(nil)
	tests := map[string]struct {
		do   plugins.CapabilityFunc
		says string // empty: the answer is of use all the same
	}{
		"the capability":     {func(context.Context, abi.Request) (abi.Answer, error) { panic("boom") }, "boom"},
		"encoding":           {answering(abi.Answer{OK: panickyOK{}}), "a defect in MarshalJSON"},
		"reading":            {answering(abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: -1}), "a defect in Read"},
		"reading, size told": {answering(abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: 3}), "a defect in Read"},
		"closing":            {answering(abi.Answer{OK: struct{}{}, Body: panickyClose{strings.NewReader("abc")}, Size: 3}), ""},
		"closing, of no use": {answering(abi.Answer{OK: panickyOK{}, Body: panickyClose{strings.NewReader("abc")}, Size: 3}), "a defect in"},
	}
	in := s.load(t, "pass_through", patient)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inv := s.invocation("{}")
			inv.Capability = test.do
			result, err := in.Call(t.Context(), inv)
			if test.says != "" {
				wantCode(t, err, abi.CodeInternal, test.says)
			} else if err != nil || result.Text() != "abc" {
				t.Errorf("got %q, %v", result.Text(), err)
			}
			inv.Capability = echoing("fine")
			if result, err := in.Call(t.Context(), inv); err != nil || result.Text() != "fine" {
				t.Errorf("the next call: %q, %v", result.Text(), err)
			}
		})
	}
}

func testOversized(t *testing.T, s *Suite) {
	t.Helper()
	inv := s.invocation("{}")
	inv.Capability = echoing(strings.Repeat("x", int(Limits.Output)+1))
	_, err := s.load(t, "pass_through", patient).Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit, "limit output")
}

// testErrorWithLastBytes: half an answer must not pass for a whole one.
func testErrorWithLastBytes(t *testing.T, s *Suite) {
	t.Helper()
	inv := s.invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: &onceBody{}, Size: -1}, nil
	}
	_, err := s.load(t, "read_answer", patient).Call(t.Context(), inv)
	wantCode(t, err, abi.CodeTrap, "unreachable")
	_, err = s.load(t, "pass_through", patient).Call(t.Context(), inv)
	wantCode(t, err, abi.CodeInternal, "the disk is gone")
}

// testLargeBody passes a body through a guest that is larger than any buffer on
// the way.
func testLargeBody(t *testing.T, s *Suite) {
	t.Helper()
	const size = 256 << 20
	for name, known := range map[string]int64{"size known": size, "size unknown": -1} {
		t.Run(name, func(t *testing.T) {
			in := s.load(t, "drain", patient)
			var read, closed atomic.Int64
			inv := s.invocation("{}")
			inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
				return abi.Answer{OK: struct{}{}, Body: &countedBody{size, &read, &closed}, Size: known}, nil
			}
			before := inUse()
			result, err := in.Call(t.Context(), inv)
			if err != nil || result.Text() != "ok" {
				t.Fatalf("got %q, %v", result.Text(), err)
			}
			if more := int64(inUse()) - int64(before); more > 32<<20 {
				t.Errorf("it took %d MiB", more>>20)
			}
			if read.Load() != size || closed.Load() != 1 {
				t.Errorf("%d bytes were read; it was closed %d times", read.Load(), closed.Load())
			}
		})
	}
}

// testUnreadBody has a body without end that one call does not read: others must
// be served meanwhile, and little of it read.
func testUnreadBody(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "submit_flood", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second; m.Limits.CapabilityCalls = 100 })
	var read, closed atomic.Int64
	inv := s.invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: &countedBody{1 << 40, &read, &closed}, Size: -1}, nil
	}
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit)
	eventually(t, "bodies are not closed", func() bool { return closed.Load() > 0 })
	if n := read.Load(); n > 64<<20 {
		t.Errorf("%d MiB were read for nobody", n>>20)
	}
}

// testBlockedBody cancels a call that waits for bytes of an answer: one that the
// guest reads, and one that it handed on.
func testBlockedBody(t *testing.T, s *Suite) {
	t.Helper()
	for name, size := range map[string]int64{"size unknown": -1, "size known": 100} {
		for _, guest := range []string{"read_answer", "pass_through"} {
			t.Run(guest+", "+name, func(t *testing.T) {
				in := s.load(t, guest)
				body := newBlockedBody()
				inv := s.invocation("{}")
				inv.Capability = answering(abi.Answer{OK: struct{}{}, Body: body, Size: size})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ended := make(chan error, 1)
				go func() {
					_, err := in.Call(ctx, inv)
					ended <- err
				}()
				<-body.reading
				cancel(errors.New("the user went home"))
				select {
				case err := <-ended:
					wantCode(t, err, abi.CodeCancelled, "the user went home")
				case <-time.After(5 * time.Second):
					_ = body.Close()
					t.Fatal("the call outlives its context")
				}
				<-body.closed
			})
		}
	}
}

// testBlockedCapability cancels a guest that waits for a capability. The guest's
// own clock stands still meanwhile: only the cancellation ends it.
func testBlockedCapability(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "read_answer")
	released := make(chan struct{})
	inv := s.invocation("{}")
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		<-ctx.Done()
		close(released)
		return abi.Answer{}, ctx.Err()
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 4*Limits.Time)
	defer cancel()
	_, err := in.Call(ctx, inv)
	wantCode(t, err, abi.CodeTimeout, "time limit")
	if took := time.Since(began); took < 4*Limits.Time || took > 4*Limits.Time+s.Slack {
		t.Errorf("it took %v", took)
	}
	<-released
}

// testUnreadAnswers counts the answers that the host holds for a guest that makes
// calls and reads nothing.
func testUnreadAnswers(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "submit_flood", patient)
	var held, most atomic.Int64
	inv := s.invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		n := held.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		return abi.Answer{OK: struct{}{}, Body: heldBody{strings.NewReader("x"), &held}, Size: 1}, nil
	}
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit)
	// None is held where the guest has done all its asking before the first is
	// answered.
	if n := most.Load(); n > 32 {
		t.Errorf("%d answers were held at once", n)
	}
	eventually(t, "answers are held after the call", func() bool { return held.Load() == 0 })
}

// testEndlessCalls has a guest that is refused and goes on. Long before its time
// is up it must be gone, and with it what it took.
func testEndlessCalls(t *testing.T, s *Suite) {
	t.Helper()
	in := s.load(t, "submit_endless", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second; m.Limits.CapabilityCalls = 100 })
	inv := s.invocation("{}")
	inv.Capability = echoing("x")
	before := inUse()
	began := time.Now()
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit, "capability_calls = 100")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if more := int64(inUse()) - int64(before); more > 128<<20 {
		t.Errorf("the host took %d MiB for it", more>>20)
	}
}
