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

// Capabilities and the bodies of their answers are an embedder's, with defects of
// their own. Each is that call's failure and nothing else's.

func testPanickingAnswers(t *testing.T, s *Suite) {
	t.Helper()
	closer := io.NopCloser(nil)
	read := abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: -1}
	readSized := abi.Answer{OK: struct{}{}, Body: panickyRead{closer}, Size: 3}
	for name, test := range map[string]struct {
		guest string
		do    plugins.CapabilityFunc
		code  abi.Code
		says  string
	}{
		"the capability":     {"pass_through", func(context.Context, abi.Request) (abi.Answer, error) { panic("boom") }, abi.CodeInternal, "boom"},
		"encoding":           {"pass_through", Answering(abi.Answer{OK: panickyOK{}}), abi.CodeInternal, "a defect in MarshalJSON"},
		"reading":            {"pass_through", Answering(read), abi.CodeInternal, "a defect in Read"},
		"reading, size told": {"pass_through", Answering(readSized), abi.CodeInternal, "a defect in Read"},
		"read by the guest":  {"read_answer", Answering(read), abi.CodeTrap, "unreachable"}, // it was told, and gave up
	} {
		t.Run(name, func(t *testing.T) {
			g := s.load(t, test.guest, patient)
			_, err := g.Call(t.Context(), g.asking(test.do))
			WantCode(t, err, test.code, test.says)
			g.goesOn(t)
		})
	}
}

func testPanicInEncoding(t *testing.T, s *Suite) {
	t.Helper()
	g, body := s.load(t, "pass_through", patient), newBlockedBody()
	_, err := g.Call(t.Context(), g.asking(Answering(abi.Answer{OK: panickyOK{}, Body: body, Size: -1})))
	WantCode(t, err, abi.CodeInternal, "a defect in MarshalJSON")
	select {
	case <-body.closed:
	case <-time.After(5 * time.Second):
		t.Error("the body is never closed")
	}
}

// goesOn holds that a guest that makes a capability call is served.
func (g *guest) goesOn(t *testing.T) {
	t.Helper()
	result, err := g.Call(t.Context(), g.asking(Echoing("fine")))
	if err != nil || !strings.HasSuffix(result.Text(), "fine") {
		t.Errorf("the next call: %q, %v", result.Text(), err)
	}
}

func testPanicInClosing(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", patient)
	body := func() io.ReadCloser { return panickyClose{strings.NewReader("abc")} }
	t.Run("of use all the same", func(t *testing.T) {
		result, err := g.Call(t.Context(), g.asking(Answering(abi.Answer{OK: struct{}{}, Body: body(), Size: 3})))
		if err != nil || result.Text() != "abc" {
			t.Errorf("got %q, %v", result.Text(), err)
		}
		g.goesOn(t)
	})
	t.Run("of no use", func(t *testing.T) {
		_, err := g.Call(t.Context(), g.asking(Answering(abi.Answer{OK: panickyOK{}, Body: body(), Size: 3})))
		WantCode(t, err, abi.CodeInternal, "a defect in")
		g.goesOn(t)
	})
	t.Run("for a call that is gone", func(t *testing.T) {
		answered := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := g.Call(ctx, g.asking(func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
			defer close(answered)
			<-ctx.Done()
			return abi.Answer{OK: struct{}{}, Body: body(), Size: 3}, nil
		}))
		WantCode(t, err, abi.CodeTimeout)
		<-answered
		g.goesOn(t)
	})
}

func testGoexit(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "pass_through", patient)
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience) // it must not come to that
	defer cancel()
	_, err := g.Call(ctx, g.asking(func(context.Context, abi.Request) (abi.Answer, error) {
		runtime.Goexit()
		return abi.Answer{}, nil
	}))
	WantCode(t, err, abi.CodeInternal, "ended its goroutine")
	g.goesOn(t)
}
