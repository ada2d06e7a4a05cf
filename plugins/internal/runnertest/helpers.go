package runnertest

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// WantCode fails the test at once where an error does not have the code, and
// marks it failed where the error does not say each of parts.
func WantCode(t *testing.T, err error, code abi.Code, parts ...string) {
	t.Helper()
	if err == nil || abi.CodeOf(err) != code {
		t.Fatalf("got error %v of code %s; want code %s", err, abi.CodeOf(err), code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

// Answering is a gate that gives every capability call the same answer.
func Answering(a abi.Answer) plugins.CapabilityFunc {
	return func(context.Context, abi.Request) (abi.Answer, error) { return a, nil }
}

// Echoing is a gate that answers every capability call with {"n":1} and a body.
func Echoing(body string) plugins.CapabilityFunc {
	return func(context.Context, abi.Request) (abi.Answer, error) {
		return answer(body, int64(len(body))), nil
	}
}

// answer has a body whose size is told, or -1.
func answer(body string, size int64) abi.Answer {
	return abi.Answer{OK: map[string]int{"n": 1}, Body: io.NopCloser(strings.NewReader(body)), Size: size}
}

// inUse is the memory that the process's heap and stacks take, in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// eventually waits for something to become true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testenv.Patience); !ok(); {
		if time.Now().After(deadline) {
			t.Error(what)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// background makes a call that the test goes on beside.
func background(ctx context.Context, g *guest, inv plugins.Invocation) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := g.Call(ctx, inv)
		ended <- err
	}()
	return ended
}
