package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
)

func contract(name string) abi.Tool {
	return abi.Tool{Name: name, Summary: "Does something", InputSchema: `{"type":"object","properties":{"n":{"type":"integer"}}}`}
}

func native(t *testing.T, f tool.Functions) *tool.Native {
	t.Helper()
	if f.Run == nil {
		f.Run = func(context.Context, tool.Invocation) (abi.ToolResult, error) { return abi.ToolResult{}, nil }
	}
	made, err := tool.NewNative(contract("Do"), f)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestNewNativeRefuses(t *testing.T) {
	t.Parallel()
	run := func(context.Context, tool.Invocation) (abi.ToolResult, error) { return abi.ToolResult{}, nil }
	broken := contract("Do")
	broken.InputSchema = `{"type":7}`
	for want, err := range map[string]error{
		"no Run function": second(tool.NewNative(contract("Do"), tool.Functions{})),
		"name":            second(tool.NewNative(contract("not a name"), tool.Functions{Run: run})),
		"schema":          second(tool.NewNative(broken, tool.Functions{Run: run})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want an error that says %q", err, want)
		}
	}
}

func second(_ *tool.Native, err error) error { return err }

func TestNative(t *testing.T) {
	t.Parallel()
	n := native(t, tool.Functions{})
	if _, err := n.Validate(json.RawMessage(`{"n":"one"}`)); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Errorf("the input is not held to the schema: %v", err)
	}
	if claim, ok := n.Declares(abi.CapFSRead); !ok || claim.Name != abi.CapFSRead {
		t.Errorf("it declares %+v, %v", claim, ok)
	}
	if a, err := n.Assess(t.Context(), plugins.Question{}); err != nil || a.ReadOnly != nil {
		t.Errorf("without a function it answers %+v, %v", a, err)
	}
	if n.Definition() != native(t, tool.Functions{}).Definition() {
		t.Error("the hashes of one contract differ")
	}
	if !n.Source().Trusted || tool.BuiltIn(n) || tool.BuiltInFor(n, abi.CapFSRead) {
		t.Error("a native tool is trusted, and not built in")
	}
}

func TestNativeCall(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx    context.Context
		run    func() error
		result abi.Code // of the result
		fails  abi.Code // of the error
	}{
		"well":           {t.Context(), func() error { return nil }, "", ""},
		"with a code":    {t.Context(), func() error { return abi.Errorf(abi.CodeNotFound, "gone") }, abi.CodeNotFound, ""},
		"with an error":  {t.Context(), func() error { return errors.New("broken") }, abi.CodeInternal, ""},
		"when cancelled": {cancelled, func() error { return errors.New("broken") }, "", abi.CodeCancelled},
		"with a panic":   {t.Context(), func() error { panic("oh") }, "", abi.CodeInternal},
	} {
		n := native(t, tool.Functions{Run: func(context.Context, tool.Invocation) (abi.ToolResult, error) {
			return abi.ToolResult{}, test.run()
		}})
		r, err := n.Call(test.ctx, tool.Invocation{Invocation: plugins.Invocation{ID: "c1"}})
		if (err != nil || test.fails != "") && abi.CodeOf(err) != test.fails {
			t.Errorf("a tool that ends %s fails with %v", name, err)
		}
		if err != nil {
			continue
		}
		if got := r.Error; r.ToolUseID != "c1" || (got == nil) != (test.result == "") || got != nil && got.Code != test.result {
			t.Errorf("a tool that ends %s answers %+v", name, r)
		}
	}
}

func TestNativeAssess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	release := make(chan struct{})
	defer close(release)
	for name, test := range map[string]struct {
		ctx    context.Context
		assess func()
		want   abi.Code
	}{
		"panics":     {t.Context(), func() { panic("oh") }, abi.CodeInternal},
		"exits":      {t.Context(), runtime.Goexit, abi.CodeInternal},
		"never ends": {ctx, func() { <-release }, abi.CodeCancelled},
	} {
		n := native(t, tool.Functions{Assess: func(context.Context, json.RawMessage, []abi.Fact) (abi.Assessment, error) {
			test.assess()
			return abi.Assessment{}, nil
		}})
		if _, err := n.Assess(test.ctx, plugins.Question{}); abi.CodeOf(err) != test.want {
			t.Errorf("an assessment that %s: %v", name, err)
		}
	}
}
