package extism_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// answerOf takes the output of the export ask apart: the answer's head, and the
// body behind its header.
func answerOf(t *testing.T, result abi.ToolResult) (abi.AnswerHead, string) {
	t.Helper()
	var head abi.AnswerHead
	decoder := json.NewDecoder(strings.NewReader(result.Text()))
	if err := decoder.Decode(&head); err != nil {
		t.Fatalf("%q: %v", result.Text(), err)
	}
	rest := result.Text()[decoder.InputOffset():]
	if rest == "" {
		return head, ""
	}
	return head, rest[abi.PartHeaderSize:]
}

func body(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }

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
		err    error
		code   abi.Code
		body   string
	}{
		"body":         {"ask", abi.Answer{OK: abi.ReadOK{Size: 5}, Body: body("hello"), Size: 5}, nil, "", "hello"},
		"unknown size": {"ask", abi.Answer{OK: abi.ReadOK{Size: 5}, Body: body("hello"), Size: -1}, nil, "", ""},
		"no body":      {"ask", abi.Answer{OK: abi.StatOK{Kind: "file"}}, nil, "", ""},
		"refused":      {"ask", abi.Answer{}, abi.Errorf(abi.CodeDenied, "a rule says no"), abi.CodeDenied, ""},
		"too large":    {"ask", abi.Answer{OK: abi.ReadOK{}, Body: zeros(), Size: -1}, nil, abi.CodeTooLarge, ""},
		"broken off":   {"ask", abi.Answer{OK: abi.ReadOK{Size: 9}, Body: body("hello"), Size: 9}, nil, abi.CodeIO, ""},
		"panics":       {"ask", abi.Answer{OK: abi.ReadOK{Size: 9}, Body: panics{}, Size: 9}, nil, abi.CodeInternal, ""},
		"too many":     {"twice", abi.Answer{OK: abi.ReadOK{}}, nil, abi.CodeLimit, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := invocation(tt.export)
			inv.Capability = func(_ context.Context, req abi.Request) (abi.Answer, error) {
				if req.Name != abi.CapFSRead || string(req.Args) != `{"path":"some file"}` {
					t.Errorf("the request is %s %s", req.Name, req.Args)
				}
				return tt.answer, tt.err
			}
			result, err := guest.Call(t.Context(), inv)
			if name == "unknown size" {
				// Its length on the wire, 0xFFFFFFFF, is no text.
				wantError(t, err, abi.CodeProtocol, "not UTF-8")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			head, got := answerOf(t, result)
			switch {
			case tt.code != "":
				if head.Error == nil || head.Error.Code != tt.code {
					t.Errorf("got %+v, want the code %s", head, tt.code)
				}
			case head.OK == nil || got != tt.body:
				t.Errorf("got %s and %q, want %q", head.OK, got, tt.body)
			}
		})
	}
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("a defect") }
func (panics) Close() error             { return nil }

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCapabilityPanicIsTheHosts(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "ask")
	inv := invocation("ask")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) { panic("a defect") }
	result, err := guest.Call(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	if head, _ := answerOf(t, result); head.Error == nil || head.Error.Code != abi.CodeInternal {
		t.Errorf("got %+v, want the code internal", head)
	}
}

func TestClockStandsStillInCapabilities(t *testing.T) {
	t.Parallel()
	short := limits
	short.Time = 150 * time.Millisecond
	guest := mustLoad(t, fixture(t, "guest.wasm"), short, "ask")
	inv := invocation("ask")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		time.Sleep(400 * time.Millisecond)
		return abi.Answer{OK: struct{}{}}, nil
	}
	if _, err := guest.Call(t.Context(), inv); err != nil {
		t.Error(err)
	}
}

func TestGuestBlockedInCapabilityIsCancelled(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "ask")
	pipe, _ := io.Pipe()
	for name, do := range map[string]plugins.CapabilityFunc{
		"waiting": func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
			<-ctx.Done()
			return abi.Answer{}, ctx.Err()
		},
		"deaf": func(context.Context, abi.Request) (abi.Answer, error) {
			time.Sleep(time.Second)
			return abi.Answer{OK: struct{}{}, Body: pipe, Size: -1}, nil
		},
		"reading": func(context.Context, abi.Request) (abi.Answer, error) {
			return abi.Answer{OK: struct{}{}, Body: pipe, Size: -1}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			inv := invocation("ask")
			inv.Capability = do
			start := time.Now()
			_, err := guest.Call(ctx, inv)
			wantError(t, err, abi.CodeCancelled, "cancelled")
			if took := time.Since(start); took > 900*time.Millisecond {
				t.Errorf("it took %v", took)
			}
		})
	}
}

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
