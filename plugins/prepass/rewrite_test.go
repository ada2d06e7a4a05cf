package prepass_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

func TestDeterministic(t *testing.T) {
	t.Parallel()
	corpus(t, func(name string, wasm []byte) {
		a, err := prepass.Rewrite(wasm, prepass.Options{})
		if err != nil {
			return
		}
		original := bytes.Clone(wasm)
		b, err := prepass.Rewrite(wasm, prepass.Options{})
		if err != nil || !bytes.Equal(a.Wasm, b.Wasm) {
			t.Errorf("%s: not the same twice (%v)", name, err)
		}
		if !bytes.Equal(wasm, original) {
			t.Errorf("%s: the original has changed", name)
		}
	})
}

// TestFacts holds what is said of a module, and what is exported of it.
func TestFacts(t *testing.T) {
	t.Parallel()
	sets := func(i uint32, c *wasmgen.Code) func(m *wasmgen.Module) {
		return func(m *wasmgen.Module) { m.Start(m.Func(nothing, c.GlobalSet(i))) }
	}
	zero := func() *wasmgen.Code { return new(wasmgen.Code).I32(0) }
	cases := map[string]struct {
		build   func(m *wasmgen.Module)
		globals []string
		frozen  string
	}{
		"global that is set": {
			func(m *wasmgen.Module) {
				m.Global(wasmgen.I32, true, zero())
				m.Global(wasmgen.I32, true, zero())
				sets(1, zero())(m)
			}, []string{"toolquay:global/1"}, "",
		},
		"reserved export": {
			func(m *wasmgen.Module) {
				m.Export(prepass.GlobalPrefix+"0", wasmgen.Global, m.Global(wasmgen.I32, true, zero()))
			}, nil, "",
		},
		"vector": {
			func(m *wasmgen.Module) {
				m.Global(wasmgen.V128, true, new(wasmgen.Code).V128(0, 0))
				sets(0, new(wasmgen.Code).V128(1, 1))(m)
			}, nil, "it sets a global of vector or reference type",
		},
		"imported global": {
			func(m *wasmgen.Module) {
				m.ImportGlobal("m", "g", wasmgen.I32, true)
				sets(0, zero())(m)
			}, nil, "it sets an imported global",
		},
		"table": {
			func(m *wasmgen.Module) {
				table := m.Table(wasmgen.FuncRef, wasmgen.AtLeast(1))
				m.Start(m.Func(nothing, zero().RefNull(wasmgen.FuncRef).TableSet(table)))
			}, nil, "it changes tables",
		},
		"data.drop": {
			func(m *wasmgen.Module) { m.Start(m.Func(nothing, new(wasmgen.Code).DataDrop(m.PassiveData(nil)))) },
			nil, "it drops segments",
		},
		"memory": {
			func(m *wasmgen.Module) {
				m.ImportMemory("m", "m", wasmgen.AtLeast(1))
				m.Start(m.Func(nothing, new(wasmgen.Code)))
			}, nil, "its memory is imported",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m wasmgen.Module
			c.build(&m)
			got := rewrite(t, m.Bytes(), prepass.Options{})
			if !slices.Equal(got.Facts.Globals, c.globals) || got.Facts.Frozen != c.frozen {
				t.Errorf("got %q, frozen %q, want %q, %q", got.Facts.Globals, got.Facts.Frozen, c.globals, c.frozen)
			}
			if got.Facts.Start != (name != "reserved export") {
				t.Errorf("start function: %t", got.Facts.Start)
			}
			if exports := bytes.Count(got.Wasm, []byte(prepass.GlobalPrefix)); exports != len(c.globals) {
				t.Errorf("%d exports of globals, want %d", exports, len(c.globals))
			}
		})
	}
}

// TestNames holds that traps name functions, though their numbers have changed,
// and that imports are renamed.
func TestNames(t *testing.T) {
	t.Parallel()
	var m wasmgen.Module
	m.ImportFunc("old", "f", nothing)
	f := m.Func(nothing, new(wasmgen.Code).Op(wasmgen.Unreachable))
	m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).Call(f)))
	m.Custom("name", []byte("\x01\x0f\x02\x01\x05inner\x02\x05outer"))
	m.Custom("other", []byte("lost"))
	got := rewrite(t, m.Bytes(), prepass.Options{Rename: func(module, name string) (string, string) {
		return prepass.ImportModule, strings.Replace(name, "f", "other", 1)
	}})
	if bytes.Contains(got.Wasm, []byte("old")) || bytes.Contains(got.Wasm, []byte("lost")) {
		t.Error("the import's old name, or a custom section, is still there")
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	i64 := []api.ValueType{api.ValueTypeI64}
	give := api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = quantum })
	if _, err := r.NewHostModuleBuilder(prepass.ImportModule).
		NewFunctionBuilder().WithGoFunction(give, i64, i64).Export(prepass.ImportRefill).
		NewFunctionBuilder().WithFunc(func() {}).Export("other").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	instance, err := r.Instantiate(ctx, got.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	_, err = instance.ExportedFunction("run").Call(ctx)
	if err == nil || !strings.Contains(err.Error(), "inner") || !strings.Contains(err.Error(), "outer") {
		t.Errorf("the trap does not name the functions: %v", err)
	}
}

// TestRefusedFeatures holds that what is not supported is refused by name.
func TestRefusedFeatures(t *testing.T) {
	t.Parallel()
	code := func(b ...byte) []byte { return exported(nothing, new(wasmgen.Code).Raw(b...)).Bytes() }
	section := func(id byte, payload string) []byte {
		return append([]byte("\x00asm\x01\x00\x00\x00"), append([]byte{id, byte(len(payload))}, payload...)...)
	}
	cases := map[string]struct {
		wasm []byte
		want string
	}{
		"atomics":           {code(0xfe, 0x03, 0x00), "threads"},
		"shared memory":     {section(5, "\x01\x03\x01\x01"), "threads"},
		"64-bit memory":     {section(5, "\x01\x04\x01"), "memory64"},
		"two memories":      {section(5, "\x02\x00\x01\x00\x01"), "multi-memory"},
		"throw":             {code(0x08, 0x00), "exception handling"},
		"try_table":         {code(0x1f, 0x40, 0x00, 0x0b), "exception handling"},
		"tags":              {section(13, "\x01\x00\x00"), "exception handling"},
		"call_ref":          {code(0x14, 0x00), "typed function references"},
		"null of a type":    {section(6, "\x01\x70\x00\xd0\x30\x0b"), "typed function references"},
		"struct":            {section(1, "\x01\x5f\x00"), "garbage collection"},
		"struct.new":        {code(0xfb, 0x00, 0x00), "garbage collection"},
		"relaxed SIMD":      {code(0xfd, 0x80, 0x02), "relaxed SIMD"},
		"overlong SIMD":     {code(0xfd, 0x8c, 0x00), "encoded in too many bytes"},
		"component":         {[]byte("\x00asm\x0d\x00\x01\x00"), "component"},
		"version":           {[]byte("\x00asm\x02\x00\x00\x00"), "unknown version"},
		"not a module":      {[]byte("#!/bin/sh"), "not a WebAssembly binary"},
		"section twice":     {append(section(1, "\x00"), 1, 1, 0), "out of order or twice"},
		"section past end":  {append(section(1, "\x00"), 2, 9), "past the end"},
		"bytes in section":  {section(1, "\x00\x00"), "left over"},
		"name not in UTF-8": {section(0, "\x01\xff"), "UTF-8"},
		"length too long":   {append([]byte("\x00asm\x01\x00\x00\x00\x01"), 0x80, 0x80, 0x80, 0x80, 0x80, 0x00), "32 bits"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := prepass.Rewrite(c.wasm, prepass.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// FuzzRewrite holds that no bytes bring the pass down, and that what is valid is
// valid rewritten.
func FuzzRewrite(f *testing.F) {
	seeds, err := filepath.Glob("../direct/testdata/*.wasm")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, path := range seeds {
		wasm, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wasm)
	}
	for seed := range uint64(20) {
		f.Add(wasmgen.Seeded(seed))
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	f.Cleanup(func() { _ = r.Close(ctx) })
	valid := func(wasm []byte) error {
		c, err := r.CompileModule(ctx, wasm)
		if err == nil {
			err = c.Close(ctx)
		}
		return err
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := prepass.Rewrite(wasm, prepass.Options{})
		if err != nil {
			var refused *prepass.Error
			if !errors.As(err, &refused) || refused.Offset < 0 || refused.Offset > len(wasm) {
				t.Errorf("an error that does not say where: %v", err)
			}
			return
		}
		before, after := valid(wasm), valid(m.Wasm)
		if before == nil && after != nil {
			t.Errorf("valid before, and now: %v", after)
		}
		if _, err := prepass.Rewrite(m.Wasm, prepass.Options{}); after == nil && err != nil {
			var refused *prepass.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Message, "at most") {
				t.Errorf("rewritten again: %v", err)
			}
		}
	})
}

// BenchmarkRewrite reads and writes real modules.
func BenchmarkRewrite(b *testing.B) {
	for _, path := range []string{"../../builtin/search/search.wasm", "../../host/internal/test/bench/guests/regex/regex.wasm"} {
		b.Run(filepath.Base(path), func(b *testing.B) {
			wasm, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(wasm)))
			b.ReportAllocs()
			for b.Loop() {
				rewrite(b, wasm, prepass.Options{})
			}
		})
	}
}
