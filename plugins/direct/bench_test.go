package direct_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

// rustGuest is the module of the built-in Read: a real guest with a stack of 64
// KiB.
func rustGuest(tb testing.TB) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "builtin", "files", "files.wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// goGuest is an example plugin in standard Go, built here: it has 3.8 MB.
func goGuest(tb testing.TB) []byte {
	tb.Helper()
	return testenv.GoGuest(tb, filepath.Join("..", "..", "plugin-examples", "outline-go"), ".")
}

var markdown = bytes.Repeat([]byte("# A heading\nand text below it\n"), 140)[:4096]

// reading is a call that makes one capability call, which is answered with 4 KiB
// from memory, so that no system call is measured.
func reading(tool string) plugins.Invocation {
	ok := json.RawMessage(`{"path":"/f","size":4096,"lines":{"first":1,"count":256,"total":256}}`)
	return plugins.Invocation{
		Tool: &abi.Tool{Name: tool}, ID: "1", Input: json.RawMessage(`{"file_path":"/f"}`),
		Capability: func(context.Context, abi.Request) (abi.Answer, error) {
			return abi.Answer{OK: ok, Body: bytesBody(markdown), BodyType: abi.PartText, Size: 4096}, nil
		},
	}
}

// BenchmarkCall is a whole call below the host.
func BenchmarkCall(b *testing.B) {
	guests := []struct {
		name, tool string
		wasm       func(testing.TB) []byte
	}{
		{"rust", "Read", rustGuest},
		{"go", "Outline", goGuest},
	}
	for _, g := range guests {
		wasm := g.wasm(b)
		for _, mode := range []abi.InstanceMode{abi.InstanceFresh, abi.InstanceReset, abi.InstanceKept} {
			b.Run(g.name+"/"+string(mode), func(b *testing.B) {
				in, err := newRunner(b).Load(b.Context(), moduleOf(wasm, func(m *plugins.Module) {
					m.Manifest.Instance = mode
					m.Limits = plugins.DefaultLimits
				}))
				if err != nil {
					b.Fatal(err)
				}
				defer in.Close(context.Background())
				var kept plugins.Session
				defer kept.Close(context.Background())
				inv := reading(g.tool)
				inv.Session = &kept
				b.ReportAllocs()
				for b.Loop() {
					if result, err := in.Call(context.Background(), inv); err != nil || result.IsError {
						b.Fatal(result.Text(), err)
					}
				}
			})
		}
	}
}

// BenchmarkSmallestCall is a call of a guest that does nothing, and of one that
// makes a capability call and hands its body on.
func BenchmarkSmallestCall(b *testing.B) {
	for _, name := range []string{"ok", "pass_through"} {
		b.Run(name, func(b *testing.B) {
			in := load(b, name)
			inv := invocation("{}")
			ok, body := json.RawMessage("{}"), []byte("hello")
			inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
				return abi.Answer{OK: ok, Body: bytesBody(body), Size: 5}, nil
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := in.Call(context.Background(), inv); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSpill passes 200 MB from a capability on to where long texts go.
func BenchmarkSpill(b *testing.B) {
	suite := runnertest.Direct("testdata")
	suite.New = func(tb testing.TB) plugins.Runner { tb.Helper(); return newRunner(tb) }
	runnertest.BenchmarkSpill(b, suite)
}
