package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// putPlugin writes a plugin of one of the direct runner's fixtures, whose tool
// has the name given.
func putPlugin(tb testing.TB, dir, tool, fixture, more string) {
	tb.Helper()
	module, err := os.ReadFile(filepath.Join("..", "plugins", "direct", "testdata", fixture+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	toml := fmt.Sprintf("manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\nmodule = \"one.wasm\"\n[[tools]]\nname = %q\ninput_schema = '{\"type\":\"object\"}'\n%s", tool, more)
	folder := filepath.Join(dir, "one")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		tb.Fatal(err)
	}
	for name, content := range map[string][]byte{"plugin.toml": []byte(toml), "one.wasm": module} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// reloadable opens a host over a plugin directory, and a session of it.
func reloadable(t *testing.T, dir string, change func(*host.Options)) (*host.Host, *host.Session) {
	t.Helper()
	o := host.Options{Plugins: host.PluginOptions{Sources: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}}}
	if change != nil {
		change(&o)
	}
	h, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return h, s
}

func callOnce(ctx context.Context, t *testing.T, s *host.Session, tool string) abi.ToolResult {
	t.Helper()
	return s.Results(ctx, []abi.ToolUse{{ID: "1", Name: tool, Input: json.RawMessage("{}")}})[0]
}

func TestReloadIsTakenUpByTheNextTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "")
	h, s := reloadable(t, dir, nil)
	if r := callOnce(t.Context(), t, s, "Show"); r.Text() != "ok" {
		t.Fatalf("got %q", r.Text())
	}
	if changes, err := h.Reload(t.Context()); err != nil || !changes.None() {
		t.Errorf("nothing happened: %+v, %v", changes, err)
	}
	putPlugin(t, dir, "Newer", "counter", "")
	changes, err := h.Reload(t.Context())
	if err != nil || len(changes.Changed) != 1 {
		t.Fatalf("got %+v, %v", changes, err)
	}
	if r := callOnce(t.Context(), t, s, "Newer"); r.Text() != "1" {
		t.Errorf("got %q", r.Text())
	}
	if r := callOnce(t.Context(), t, s, "Show"); r.Error == nil || r.Error.Code != abi.CodeUnknownTool {
		t.Errorf("the older tool answers %q", r.Text())
	}
	definitions, err := s.Definitions(host.FormatMCP)
	if err != nil || !strings.Contains(string(definitions), `"Newer"`) || strings.Contains(string(definitions), `"Show"`) {
		t.Errorf("the model is offered %s, %v", definitions, err)
	}
}

// A turn that has begun keeps its plugins: those of its calls too that have not
// started when the reload comes.
func TestReloadInMidTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "")
	var h *host.Host
	reload := func(ctx context.Context, _ struct{}) (string, error) {
		putPlugin(t, dir, "Show", "counter", "")
		_, err := h.Reload(ctx)
		return "reloaded", err
	}
	native := host.NewTool(abi.Tool{Name: "Reload", InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue}, reload)
	var s *host.Session
	h, s = reloadable(t, dir, func(o *host.Options) { o.Tools = []host.NativeTool{native} })
	use := func(id, name string) abi.ToolUse {
		return abi.ToolUse{ID: id, Name: name, Input: json.RawMessage("{}")}
	}
	results := s.Results(t.Context(), []abi.ToolUse{use("1", "Show"), use("2", "Reload"), use("3", "Show")})
	for i, want := range []string{"ok", "reloaded", "ok"} {
		if got := results[i].Text(); got != want {
			t.Errorf("call %d: got %q, want %q", i+1, got, want)
		}
	}
	if r := callOnce(t.Context(), t, s, "Show"); r.Text() != "1" {
		t.Errorf("the next turn: got %q", r.Text())
	}
}

// A deny rule goes on meaning the tool of its name when that comes to be
// another plugin's.
func TestReloadKeepsRulesBinding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "aliases = [\"Old\"]\n")
	h, s := reloadable(t, dir, func(o *host.Options) {
		o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Old")}}
	})
	for _, tool := range []string{"Show", "Old"} {
		if r := callOnce(t.Context(), t, s, tool); r.Error == nil || r.Error.Code != abi.CodeDenied {
			t.Errorf("%s: %q, %v", tool, r.Text(), r.Error)
		}
	}
	putPlugin(t, dir, "Old", "counter", "")
	if _, err := h.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := callOnce(t.Context(), t, s, "Old"); r.Error == nil || r.Error.Code != abi.CodeDenied {
		t.Errorf("the newer tool of the denied name: %q, %v", r.Text(), r.Error)
	}
}

// TestReloadLeavesTheRulesOfATurn has another tool take over, in the middle of a
// turn, the alias that a rule denies a tool by.
func TestReloadLeavesTheRulesOfATurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "aliases = [\"Old\"]\n")
	var h *host.Host
	var s *host.Session
	reload := func(ctx context.Context, _ struct{}) (string, error) {
		putPlugin(t, dir, "Newer", "counter", "aliases = [\"Old\"]\n[[tools]]\nname = \"Other\"\ninput_schema = '{\"type\":\"object\"}'\n")
		if changes, err := h.Reload(ctx); err != nil || changes.None() {
			return "nothing changed", err
		}
		offered, err := s.Definitions(host.FormatMCP)
		return string(offered), err
	}
	native := host.NewTool(abi.Tool{Name: "Reload", InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue}, reload)
	h, s = reloadable(t, dir, func(o *host.Options) {
		o.Tools = []host.NativeTool{native}
		o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Old")}}
	})
	use := func(id, name string) abi.ToolUse {
		return abi.ToolUse{ID: id, Name: name, Input: json.RawMessage("{}")}
	}
	results := s.Results(t.Context(), []abi.ToolUse{use("1", "Show"), use("2", "Reload"), use("3", "Show"), use("4", "Old")})
	for _, i := range []int{0, 2, 3} {
		if e := results[i].Error; e == nil || e.Code != abi.CodeDenied {
			t.Errorf("call %d of the turn: got %q, %v; want it denied", i+1, results[i].Text(), e)
		}
	}
	if offered := results[1].Text(); !strings.Contains(offered, `"Other"`) || strings.Contains(offered, `"Newer"`) || strings.Contains(offered, `"Show"`) {
		t.Errorf("the next turn is offered %s; want Other, and not Newer, which the rule denies by then", offered)
	}
	if r := callOnce(t.Context(), t, s, "Newer"); r.Error == nil || r.Error.Code != abi.CodeDenied {
		t.Errorf("the next turn: got %q, %v; want it denied", r.Text(), r.Error)
	}
}

func TestReloadOfAClosedHost(t *testing.T) {
	t.Parallel()
	h, _ := reloadable(t, t.TempDir(), nil)
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Reload(t.Context()); err == nil {
		t.Error("there is no error")
	}
}

// Sessions call while two goroutines reload and a third one changes the plugin.
func TestReloadHammer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "")
	h, _ := reloadable(t, dir, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var calls, reloads sync.WaitGroup
	for range 4 {
		s, err := h.NewSession(host.SessionOptions{Cwd: dir})
		if err != nil {
			t.Fatal(err)
		}
		calls.Go(func() {
			for ctx.Err() == nil {
				r := callOnce(ctx, t, s, "Show")
				if r.Error != nil {
					switch r.Error.Code {
					case abi.CodeChanged, abi.CodeLoad, abi.CodeUnknownTool: // it is being written
					case abi.CodeCancelled: // the test ends
					default:
						t.Errorf("got %v", r.Error)
					}
				} else if text := r.Text(); text != "ok" && text != "1" {
					t.Errorf("got %q", text)
				}
				_, err := s.Definitions(host.FormatOpenAI)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		reloads.Go(func() {
			for i := range 40 {
				putPlugin(t, filepath.Join(dir, "."), "Show", []string{"ok", "counter"}[i%2], "")
				if _, err := h.Reload(ctx); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	reloads.Wait()
	cancel()
	calls.Wait()
	putPlugin(t, dir, "Show", "ok", "")
	if _, err := h.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	if r := callOnce(t.Context(), t, s, "Show"); r.Text() != "ok" {
		t.Errorf("in the end: %q", r.Text())
	}
}
