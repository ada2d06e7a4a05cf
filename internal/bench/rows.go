package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
)

// row is one comparison: a case of ours and its baseline.
type row struct {
	name, baseline string
	ours, theirs   func(*testing.B, *lab)
	// compare writes the result; limit says what it must be.
	compare func(ours, theirs time.Duration) string
	limit   string
	// needs is a program without which the row is left out.
	needs string
}

func (r row) missing() string {
	if r.needs == "" {
		return ""
	}
	if _, err := exec.LookPath(r.needs); err != nil {
		return r.needs + " is not installed"
	}
	return ""
}

func rows() []row {
	return []row{
		{
			name: "a whole call through host, a capability answering 4 KiB", ours: wholeCall,
			baseline: "the same guest through extism/go-sdk", theirs: extismCall,
			compare: ratio, limit: "at most 0.2x",
		},
		{
			name: "1 MiB from host to guest", ours: guestReads(mib1),
			baseline: "raw wazero", theirs: rawReads,
			compare: ratio, limit: "at most 3x",
		},
		{
			name: "a Rust guest's call with clean memory", ours: rustCall(abi.InstanceFresh),
			baseline: "in one kept instance", theirs: rustCall(abi.InstanceKept),
			compare: difference, limit: "at most +60 µs",
		},
		{
			name: "the first call with 100 plugins installed", ours: firstCall(100),
			baseline: "with 1 plugin", theirs: firstCall(1),
			compare: difference, limit: "nothing compiled",
		},
		{
			name: "toolquay call Read, a whole process", ours: processRead, needs: "rg",
			baseline: "rg --version", theirs: processRipgrep,
			compare: ratio, limit: "at most 10x",
		},
	}
}

func wholeCall(b *testing.B, l *lab) {
	b.Helper()
	s, err := l.host.NewSession(host.SessionOptions{Cwd: l.dir})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.Background())
	calls := []abi.ToolUse{{ID: "toolu_1", Name: "Bench", Input: json.RawMessage(`{"path":"/srv/data49/file","limit":2000}`)}}
	for b.Loop() {
		results := s.Results(context.Background(), calls)
		if results[0].IsError {
			b.Fatal(results[0].Text())
		}
	}
}

// extismCall is the same guest and the same 4 KiB through the Extism SDK, with
// an instance of its own for every call, as clean memory needs.
func extismCall(b *testing.B, _ *lab) {
	ctx := context.Background()
	read := extism.NewHostFunctionWithStack("bench_read", func(ctx context.Context, p *extism.CurrentPlugin, stack []uint64) {
		at, err := p.WriteBytes(content[:kib4])
		if err != nil {
			panic(err)
		}
		stack[0] = at
	}, []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64})
	read.SetNamespace("extism:host/user")
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: extismWasm}}, Timeout: 30_000}
	compiled, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{}, []extism.HostFunction{read})
	if err != nil {
		b.Fatal(err)
	}
	defer compiled.Close(ctx)
	for b.Loop() {
		p, err := compiled.Instance(ctx, extism.PluginInstanceConfig{})
		if err != nil {
			b.Fatal(err)
		}
		if _, out, err := p.CallWithContext(ctx, "call", []byte(`{"path":"/srv/data49/file","limit":2000}`)); err != nil || string(out) != "ok" {
			b.Fatalf("%q, %v", out, err)
		}
		if err := p.CloseWithContext(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// guestReads calls a guest, below the host, that reads an answer of that size.
func guestReads(size int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		in, err := l.load(guestWasm, &abi.Manifest{Name: "bench", Instance: abi.InstanceKept})
		if err != nil {
			b.Fatal(err)
		}
		defer in.Close(context.Background())
		var kept plugins.Session
		defer kept.Close(context.Background())
		inv := plugins.Invocation{
			Tool: &abi.Tool{Name: "Bench"}, ID: "1", Input: json.RawMessage("{}"), Session: &kept,
			Capability: func(context.Context, abi.Request) (abi.Answer, error) { return memory{size: size}.answer(), nil },
		}
		b.SetBytes(int64(size))
		for b.Loop() {
			if _, err := in.Call(context.Background(), inv); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func rawReads(b *testing.B, _ *lab) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	fill := func(_ context.Context, mod api.Module, stack []uint64) {
		mod.Memory().Write(uint32(stack[0]), content[:uint32(stack[1])])
		stack[0] = stack[1]
	}
	i32 := []api.ValueType{api.ValueTypeI32}
	_, err := r.NewHostModuleBuilder("bench").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(fill), append(i32, i32...), i32).Export("fill").Instantiate(ctx)
	if err != nil {
		b.Fatal(err)
	}
	mod, err := r.Instantiate(ctx, rawWasm)
	if err != nil {
		b.Fatal(err)
	}
	get := mod.ExportedFunction("get")
	b.SetBytes(mib1)
	stack := make([]uint64, 1)
	for b.Loop() {
		stack[0] = mib1
		if err := get.CallWithStack(ctx, stack); err != nil {
			b.Fatal(err)
		}
	}
}

// rustCall calls the built-in Read below the host, with a file of 4 KiB in
// memory.
func rustCall(mode abi.InstanceMode) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		wasm, err := readModule()
		if err != nil {
			b.Fatal(err)
		}
		in, err := l.load(wasm, &abi.Manifest{Name: "files", Instance: mode})
		if err != nil {
			b.Fatal(err)
		}
		defer in.Close(context.Background())
		var kept plugins.Session
		defer kept.Close(context.Background())
		ok := abi.ReadOK{Path: "/f", Size: kib4, Lines: &abi.LinesOK{First: 1, Count: 256, Total: 256}}
		inv := plugins.Invocation{
			Tool: &abi.Tool{Name: "Read"}, ID: "1", Input: json.RawMessage(`{"file_path":"/f"}`), Session: &kept,
			Capability: func(context.Context, abi.Request) (abi.Answer, error) {
				return abi.Answer{OK: ok, Body: io.NopCloser(bytes.NewReader(content[:kib4])), BodyType: abi.PartText, Size: kib4}, nil
			},
		}
		for b.Loop() {
			result, err := in.Call(context.Background(), inv)
			if err != nil || result.IsError {
				b.Fatal(result.Text(), err)
			}
		}
	}
}

// firstCall opens a host over a directory of plugins and makes one call. The
// compile cache is warm.
func firstCall(installed int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		dir := filepath.Join(l.dir, fmt.Sprintf("plugins-%d", installed))
		if err := install(dir, installed); err != nil {
			b.Fatal(err)
		}
		o := host.Options{CacheDir: filepath.Join(l.dir, "cache"), Plugins: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}}
		for b.Loop() {
			if err := openAndCall(o, l.dir); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func openAndCall(o host.Options, cwd string) error {
	ctx := context.Background()
	h, err := host.Open(ctx, o)
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: cwd})
	if err != nil {
		return err
	}
	results := s.Results(ctx, []abi.ToolUse{{ID: "1", Name: "Tool0", Input: json.RawMessage("{}")}})
	if results[0].Error != nil && results[0].Error.Code != abi.CodeUndeclared {
		return results[0].Error
	}
	return nil
}

// install writes a number of plugins, each of which differs from the others.
func install(dir string, n int) error {
	for i := range n {
		name := fmt.Sprintf("plugin-%d", i)
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		manifest := fmt.Sprintf("manifest = 1\nname = %q\nversion = \"1.0.0\"\n[[tools]]\nname = \"Tool%d\"\nsummary = \"A tool\"\ninput_schema = '{\"type\":\"object\"}'\n", name, i)
		if err := os.WriteFile(filepath.Join(folder, "plugin.toml"), []byte(manifest), 0o600); err != nil {
			return err
		}
		wasm, err := plugins.AppendCustomSection(guestWasm, "bench", []byte(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".wasm"), wasm, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// processRead runs the command as a whole, on a warm cache.
func processRead(b *testing.B, l *lab) {
	program := filepath.Join(l.dir, "bin", "toolquay")
	if _, err := os.Stat(program); err != nil {
		// As task build does it.
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/toolquay/toolquay/cmd/host")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	file := filepath.Join(l.dir, "file.txt")
	if err := os.WriteFile(file, content[:kib4], 0o600); err != nil {
		b.Fatal(err)
	}
	home := filepath.Join(l.dir, "home")
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	for b.Loop() {
		c := exec.Command(program, "call", "Read", `{"file_path":"file.txt"}`)
		c.Dir, c.Env = l.dir, env
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

func processRipgrep(b *testing.B, _ *lab) {
	for b.Loop() {
		if err := exec.Command("rg", "--version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
