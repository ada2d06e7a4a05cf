package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// BenchmarkResults is a turn of one call to a guest that makes one capability
// call: what the pipeline costs, beside the guest's own time.
func BenchmarkResults(b *testing.B) {
	b.Run("guest", func(b *testing.B) { benchResults(b, "Bench", abi.ABIDirect, "testdata/guest.wasm") })
	b.Run("rust", func(b *testing.B) { benchResults(b, "RustBench", abi.ABIDirect, "guests/tool/tool.wasm") })
	// Without a guest, what is left is the pipeline's own.
	b.Run("pipeline", func(b *testing.B) { benchResults(b, "Bench", abi.ABIExtism, "testdata/guest.wasm") })
}

// BenchmarkCall is a call of no message beside a turn of one call.
func BenchmarkCall(b *testing.B) {
	s := benchSession(b, "RustBench", abi.ABIDirect, "guests/tool/tool.wasm")
	use := abi.ToolUse{ID: "toolu_1", Name: "RustBench", Input: json.RawMessage(`{"path":"/srv/data49/file","limit":2000}`)}
	for name, run := range map[string]func() iter.Seq[host.Event]{
		"Run":  func() iter.Seq[host.Event] { return s.Run(b.Context(), []abi.ToolUse{use}) },
		"Call": func() iter.Seq[host.Event] { return s.Call(b.Context(), use) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for e := range run() {
					if e.Kind == host.EventResult && e.Result.IsError {
						b.Fatal(e.Result.Text())
					}
				}
			}
		})
	}
}

// noGuest is a runner whose plugins are a few lines of Go.
type noGuest struct{}

func (noGuest) ABI() string { return abi.ABIExtism }

func (noGuest) Load(context.Context, plugins.Module) (plugins.Instance, error) { return noGuest{}, nil }

func (noGuest) Call(ctx context.Context, c plugins.Invocation) (abi.ToolResult, error) {
	answer, err := c.Capability(ctx, abi.Request{Name: "bench.read", Args: json.RawMessage(`{"path":"file"}`)})
	if err != nil {
		return abi.ToolResult{}, err
	}
	defer answer.Body.Close()
	text := make([]byte, answer.Size)
	_, err = io.ReadFull(answer.Body, text)
	return abi.ToolResult{ToolUseID: c.ID, Content: []abi.Block{abi.TextBlock(string(text))}}, err
}

func (noGuest) Assess(context.Context, plugins.Question) (abi.Assessment, error) {
	return abi.Assessment{}, nil
}

func (noGuest) Close(context.Context) error { return nil }

func benchResults(b *testing.B, tool, guestABI, module string) {
	b.Helper()
	s := benchSession(b, tool, guestABI, module)
	calls := []abi.ToolUse{{ID: "toolu_1", Name: tool, Input: json.RawMessage(`{"path":"/srv/data49/file","limit":2000}`)}}
	call := func() {
		if r := s.Results(b.Context(), calls); r[0].IsError {
			b.Fatal(r[0].Text())
		}
	}
	call() // the first one loads the plugin
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}

// benchSession is a session of a host with one tool, whose module is one of
// internal/test/bench, a capability that answers from memory, and fifty rules.
func benchSession(b *testing.B, tool, guestABI, module string) *host.Session {
	b.Helper()
	guest, err := os.ReadFile(filepath.Join("internal/test/bench", module))
	if err != nil {
		b.Fatal(err)
	}
	const manifest = `
manifest = 1
name = "bench"
version = "1.0.0"
abi = "%s"
[[capabilities]]
name = "bench.read"
reason = "to be measured"
[[tools]]
name = "%s"
summary = "Reads"
read_only = true
concurrency_safe = true
input_schema = '''{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}'''
`
	rules := permissions.RuleSet{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(.env)")}
	for i := range 50 {
		rules.Allow = append(rules.Allow, permissions.RuleText{Text: fmt.Sprintf("Read(//srv/data%d/**)", i)})
	}
	h, err := host.Open(b.Context(), host.Options{
		Storage: host.StorageOptions{CacheDir: b.TempDir()},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{{Origin: plugins.OriginFlag, Path: "bench", FS: fstest.MapFS{
				"plugin.toml": {Data: fmt.Appendf(nil, manifest, guestABI, tool)},
				"bench.wasm":  {Data: guest},
			}}},
			Runners: []plugins.Runner{noGuest{}},
			Granted: []string{"bench"},
		},
		Capabilities: []capability.Capability{benchRead{}},
		Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{rules}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.Close(context.Background()) })
	s, err := h.NewSession(host.SessionOptions{Cwd: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// benchRead answers bench.read with 4 KiB from memory.
type benchRead struct{}

var benchContent = bytes.Repeat([]byte("0123456789abcde\n"), 256)

func (benchRead) Names() []string { return []string{"bench.read"} }

func (c benchRead) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return c, nil
}

func (benchRead) Accesses() []permissions.Access {
	return []permissions.Access{{Kind: permissions.AccessRead, Target: "/srv/data49/file", Real: "/srv/data49/file"}}
}

func (benchRead) Do(context.Context, capability.Judge) (abi.Answer, error) {
	return abi.Answer{
		OK:   json.RawMessage(`{"path":"/srv/data49/file"}`),
		Body: abi.Bytes(benchContent),
		Size: int64(len(benchContent)),
	}, nil
}

func (benchRead) Close() error { return nil }
