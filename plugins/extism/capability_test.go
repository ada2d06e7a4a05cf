package extism_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// headOf is the head of the answer that the export ask gave as its output.
func headOf(t *testing.T, result abi.ToolResult) (head abi.AnswerHead) {
	t.Helper()
	if err := json.NewDecoder(strings.NewReader(result.Text())).Decode(&head); err != nil {
		t.Fatalf("%q: %v", result.Text(), err)
	}
	return head
}

func body(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }

// asking is a call of an export that makes a capability call.
func asking(t *testing.T, export string, answer abi.Answer) plugins.Invocation {
	t.Helper()
	inv := invocation(export)
	inv.Capability = func(_ context.Context, req abi.Request) (abi.Answer, error) {
		if req.Name != abi.CapFSRead || string(req.Args) != `{"path":"some file"}` {
			t.Errorf("the request is %s %s", req.Name, req.Args)
		}
		return answer, nil
	}
	return inv
}

// TestCapability has answers of which a guest is told that it does not get them.
func TestCapability(t *testing.T) {
	t.Parallel()
	roomy := limits
	roomy.Output = 64 << 20
	roomy.CapabilityCalls = 1
	guest := mustLoad(t, fixture(t, "guest.wasm"), roomy, "ask")
	zeros := func() io.ReadCloser { return io.NopCloser(io.LimitReader(zero{}, extism.MaxAnswer+1)) }
	for name, tt := range map[string]struct {
		export string
		answer abi.Answer
		code   abi.Code
	}{
		"too large":              {"ask", abi.Answer{OK: abi.ReadOK{}, Body: zeros(), Size: -1}, abi.CodeTooLarge},
		"too large, size told":   {"ask", abi.Answer{OK: abi.ReadOK{}, Body: zeros(), Size: extism.MaxAnswer + 1}, abi.CodeTooLarge},
		"shorter than it was to": {"ask", abi.Answer{OK: abi.ReadOK{Size: 9}, Body: body("hello"), Size: 9}, abi.CodeIO},
		"one too many":           {"twice", abi.Answer{OK: abi.ReadOK{}}, abi.CodeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := guest.Call(t.Context(), asking(t, tt.export, tt.answer))
			if err != nil {
				t.Fatal(err)
			}
			if head := headOf(t, result); head.Error == nil || head.Error.Code != tt.code {
				t.Errorf("got %+v, want the code %s", head, tt.code)
			}
		})
	}
}

// TestAnswerOfUnknownSizeSaysSo holds the length that such an answer has on the
// wire, 0xFFFFFFFF, which is no text.
func TestAnswerOfUnknownSizeSaysSo(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "ask")
	_, err := guest.Call(t.Context(), asking(t, "ask", abi.Answer{OK: abi.ReadOK{Size: 5}, Body: body("hello"), Size: -1}))
	wantError(t, err, abi.CodeProtocol, "not UTF-8")
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestFullMemory(t *testing.T) {
	t.Parallel()
	small := limits
	small.Memory = 4 << 20
	guest := mustLoad(t, fixture(t, "guest.wasm"), small, "ask")
	inv := invocation("blocks")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: body(strings.Repeat("x", 100_000)), Size: 100_000}, nil
	}
	if result, err := guest.Call(t.Context(), inv); err == nil && result.IsError {
		t.Errorf("got %q", result.Text())
	}
	inv = invocation("echo")
	inv.Input = json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)
	_, err := guest.Call(t.Context(), inv)
	wantError(t, err, abi.CodeLimit, "limit memory = 4MiB")
}

// TestCapabilityContextIsTheCallers holds that nothing of the guest's travels
// along to whatever a capability does.
func TestCapabilityContextIsTheCallers(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "ask")
	callers := context.WithValue(t.Context(), callersKey{}, "the caller's")
	inv := invocation("ask")
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		if ctx != callers {
			t.Errorf("the context is %v", ctx)
		}
		return abi.Answer{OK: struct{}{}}, nil
	}
	if _, err := guest.Call(callers, inv); err != nil {
		t.Error(err)
	}
}

type callersKey struct{}
