package direct_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

// TestCapabilityCallsRunSideBySide has two that wait for each other.
func TestCapabilityCallsRunSideBySide(t *testing.T) {
	in := load(t, "submit_two")
	var begun atomic.Int32
	both := make(chan struct{})
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		if begun.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			return runnertest.Echoing("together")(ctx, r)
		case <-ctx.Done():
			return abi.Answer{}, ctx.Err()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	result, err := in.Call(ctx, inv)
	if err != nil || result.Text() != "together" {
		t.Errorf("got %q, %v", result.Text(), err)
	}
}

// TestCapabilityCallBeginsWithoutWait has a guest that works on after it made a
// capability call, and never asks for the answer.
func TestCapabilityCallBeginsWithoutWait(t *testing.T) {
	in := load(t, "submit_spin")
	begun, ended := make(chan struct{}), make(chan struct{})
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return abi.Answer{}, ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-begun
		cancel(errors.New("that will do"))
	}()
	_, err := in.Call(ctx, inv)
	runnertest.WantCode(t, err, abi.CodeCancelled, "that will do")
	<-ended
}

// TestFloodIsToldOfBothLimits has a guest that makes capability calls, reads no
// answer and is refused for both.
func TestFloodIsToldOfBothLimits(t *testing.T) {
	in := load(t, "submit_flood")
	inv := invocation("{}")
	inv.Capability = runnertest.Answering(abi.Answer{OK: struct{}{}})
	_, err := in.Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeLimit, "capability_calls = 1000", "32 outstanding")
}

// TestTimeIsChargedToWhomItBelongs has a plugin run out of its time while
// another one works for it: the other's limit was not reached.
func TestTimeIsChargedToWhomItBelongs(t *testing.T) {
	parent := load(t, "submit_spin", func(m *plugins.Module) { m.Limits.Time = time.Second })
	child := load(t, "spin", func(m *plugins.Module) {
		m.Manifest.Name = "child"
		m.Limits.Time = testenv.Patience
	})
	nested := make(chan error, 1)
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		_, err := child.Call(ctx, invocation("{}"))
		nested <- err
		return abi.Answer{}, err
	}
	_, err := parent.Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeTimeout, "plugin fixture ran longer than its limit of 1s")
	runnertest.WantCode(t, <-nested, abi.CodeCancelled, "plugin child")
}

// bytesBody is a body in memory, which says so.
func bytesBody(b []byte) io.ReadCloser {
	return struct {
		*bytes.Reader
		io.Closer
	}{bytes.NewReader(b), io.NopCloser(nil)}
}

// TestUnreadAnswersAreSmall bounds what they hold of the host's memory together.
func TestUnreadAnswersAreSmall(t *testing.T) {
	in := load(t, "hold_three", func(m *plugins.Module) { m.Limits.Output = 64 << 20 })
	body := make([]byte, 30<<20)
	for i := range body {
		body[i] = 'x'
	}
	inv := invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: bytesBody(body), Size: int64(len(body))}, nil
	}
	_, err := in.Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeLimit, "64MiB", "not read")

	// Those that are read as the guest asks for them hold nothing.
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: io.NopCloser(bytes.NewReader(body)), Size: int64(len(body))}, nil
	}
	result, err := in.Call(t.Context(), inv)
	if err != nil || len(result.Text()) != len(body) {
		t.Errorf("got %d bytes, %v", len(result.Text()), err)
	}

	// One by itself may be as large as it likes.
	inv.Capability = runnertest.Answering(abi.Answer{OK: struct{}{}, Body: bytesBody(make([]byte, 65<<20)), Size: 65 << 20})
	_, err = load(t, "pass_through").Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeLimit, "limit output")
}
