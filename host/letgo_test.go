package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/hooks"
)

// spills is a tool whose result lies in a file, which is the result's alone. It answers
// when when says so.
func spills(t *testing.T, when func(ctx context.Context) error) (tool host.NativeTool, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "text")
	must(t, os.WriteFile(path, []byte("spilled text"), 0o600))
	tool = echo("Spiller")
	tool.Run = func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
		err := when(ctx)
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock("before"), {Type: abi.BlockText, Spilled: &abi.Spilled{Path: path, Bytes: 12, Chars: 12, Head: "spilled text", Tail: "spilled text"}}}}, err
	}
	return tool, path
}

func atOnce(context.Context) error { return nil }

// wantGone wants nothing to be at a path.
func wantGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was left behind: %v", path, err)
	}
}

// TestLateSpillGoes has a tool answer with a file when its call has its result already.
func TestLateSpillGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, path := spills(t, func(context.Context) error { time.Sleep(3 * time.Second); return nil })
		h, err := host.Open(t.Context(), host.Options{Tools: []host.NativeTool{tool}})
		must(t, err)
		s := session(t, h, host.SessionOptions{Cwd: "/"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := s.Results(ctx, []abi.ToolUse{use("1", "Spiller", `{}`)})
		wantError(t, r[0], abi.CodeCancelled)
		must(t, h.Close(context.Background())) // what goes on behind the result has ended then
		wantGone(t, path)
	})
}

// TestSpillOfAFailureGoes has a tool hand over a file and fail.
func TestSpillOfAFailureGoes(t *testing.T) {
	t.Parallel()
	tool, path := spills(t, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}, Limits: host.LimitOptions{CallTimeout: time.Millisecond}}), host.SessionOptions{})
	r, _ := one(t, s, "Spiller", `{}`)
	wantError(t, r, abi.CodeTimeout)
	must(t, s.Close(context.Background())) // on a busy machine the tool may answer behind the result
	wantGone(t, path)
}

// TestReplacedSpillGoes has a hook replace a result that lies in a file, or a part of it.
func TestReplacedSpillGoes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		output func(r *abi.ToolResult) []abi.Block
		want   string // of what is persisted; empty is that nothing is
	}{
		"another text":   {output: func(*abi.ToolResult) []abi.Block { return []abi.Block{abi.TextBlock("withheld")} }},
		"the same block": {output: func(r *abi.ToolResult) []abi.Block { return r.Content[1:] }, want: "spilled text"},
		"no replacement": {output: func(*abi.ToolResult) []abi.Block { return nil }, want: "before\nspilled text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, path := spills(t, atOnce)
			o := kept(t, tool)
			o.Permissions.Hooks = hookSet(t, hooks.Hook{Event: hooks.PostToolUse, Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
				return hooks.Output{UpdatedOutput: test.output(in.Result)}, nil
			}})
			r, events := one(t, session(t, open(t, o), host.SessionOptions{}), "Spiller", `{}`)
			wantGone(t, path) // it is the session's by then, or nobody's
			persisted := of(events, host.EventPersisted)
			if test.want == "" {
				if len(persisted) > 0 || r.Text() != "withheld" {
					t.Errorf("%+v, %s", persisted, r.Text())
				}
				return
			}
			if len(persisted) != 1 || !strings.Contains(r.Text(), persisted[0].Stored.Path) {
				t.Fatalf("%+v, %s", persisted, r.Text())
			}
			if got, err := os.ReadFile(persisted[0].Stored.Path); string(got) != test.want {
				t.Errorf("the file holds %q, %v", got, err)
			}
		})
	}
}
