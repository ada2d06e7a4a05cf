package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// resultRows say what results cost on their way to the model and to disk.
func resultRows() []row {
	return []row{
		{
			name: "the heap while a command's output goes to disk", ours: heapOf(logSize),
			baseline: "a hundredth of the output", theirs: heapOf(logSize / 100),
			compare: mebibytesMore, limit: "of 200 MB under 32 MiB", unit: mebibytes,
		},
		{
			name: "a result of 100 bytes fitted into its turn", ours: fitted(100),
			baseline: "a whole call", theirs: wholeCall("Bench"),
			compare: share, limit: "at most 10%", fine: true,
		},
		{
			name: "a turn of ten results of 40,000 characters, four of them kept in files", ours: fittedTurn(40_000),
			baseline: "of 4,000", theirs: fittedTurn(4000),
			compare: difference, limit: "for the picture",
		},
	}
}

// logSize is how long the command's output is, in bytes.
const logSize = 200_000_000

//go:embed testdata/pass.wasm
var passWasm []byte

// passPlugin has a tool that hands on what bench.log answers.
func passPlugin() plugins.Source {
	return wasmPlugin("pass", passWasm, `
[limits]
time = "5m"
[[capabilities]]
name = "bench.log"
reason = "to be measured"
[[tools]]
name = "Pass"
summary = "Hands on"
read_only = true
concurrency_safe = true
input_schema = '{"type":"object"}'
`)
}

// output is a capability that answers with a long text, as a command does: piece by
// piece, its length unknown.
type output struct{ size int64 }

func (output) Names() []string { return []string{"bench.log"} }

func (o output) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return o, nil
}

func (output) Accesses() []permissions.Access { return memory{}.Accesses() }

func (o output) Do(context.Context, capability.Judge) (abi.Answer, error) {
	return abi.Answer{OK: struct{}{}, Body: io.NopCloser(io.LimitReader(new(endless), o.size)), Size: -1}, nil
}

func (output) Close() error { return nil }

// endless is content, over and over.
type endless struct{ at int }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, content[e.at:])
	e.at = (e.at + n) % len(content)
	return n, nil
}

// heapOf is by how much the heap grows while an output of that size goes through the
// host, to a session's folder.
func heapOf(size int64) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, end := l.session(b, host.Options{
			Plugins: host.PluginOptions{
				Sources: []plugins.Source{passPlugin()}, Granted: []string{"pass"},
				Ceilings: plugins.Limits{Time: 5 * time.Minute},
			},
			Capabilities: []capability.Capability{output{size}},
			Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{fiftyRules()}},
			Storage:      host.StorageOptions{Sessions: filepath.Join(b.TempDir(), "kept")},
		})
		defer end()
		var most uint64
		for i := 0; b.Loop(); i++ {
			most = max(most, growth(func() {
				r := s.Results(context.Background(), []abi.ToolUse{{ID: strconv.Itoa(i), Name: "Pass", Input: json.RawMessage("{}")}})[0]
				if r.IsError || len(r.Text()) > kib4 {
					b.Fatalf("%.200s", r.Text())
				}
			}))
		}
		reportBytes(b, most)
	}
}

// growth is by how many bytes the heap was larger while something was done than
// before: what was in use, and what was free in it.
func growth(do func()) uint64 {
	runtime.GC()
	before := heap()
	peak, quit := make(chan uint64), make(chan struct{})
	go func() {
		most := uint64(0)
		for tick := time.NewTicker(time.Millisecond); ; {
			most = max(most, heap())
			select {
			case <-quit:
				tick.Stop()
				peak <- most
				return
			case <-tick.C:
			}
		}
	}()
	do()
	close(quit)
	return max(<-peak, before) - before
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}

// mebibytesMore is what ours adds to the baseline.
func mebibytesMore(ours, theirs time.Duration) string { return "+" + mebibytes(max(0, ours-theirs)) }

// fitted holds a result that fits to its turn's budget, one turn after the other.
func fitted(size int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, end := l.session(b, host.Options{Storage: host.StorageOptions{Sessions: filepath.Join(b.TempDir(), "kept")}})
		defer end()
		text := string(content[:size])
		for b.Loop() {
			rs := s.Fit([]abi.ToolResult{{ToolUseID: "1", Content: []abi.Block{abi.TextBlock(text)}}})
			if rs[0].Text() != text {
				b.Fatalf("%.200s", rs[0].Text())
			}
		}
	}
}

// fittedTurn makes ten calls whose results have that many characters.
func fittedTurn(size int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		text := string(bytes.Repeat([]byte("0123456789abcde\n"), size/16))
		tool := nothing("Long")
		tool.Run = func(context.Context, *host.Call) (abi.ToolResult, error) {
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock(text)}}, nil
		}
		s, end := l.session(b, host.Options{Tools: []host.NativeTool{tool}, Storage: host.StorageOptions{Sessions: filepath.Join(b.TempDir(), "kept")}})
		defer end()
		runTurns(b, s, uses(10, "Long"))
	}
}
