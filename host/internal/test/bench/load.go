package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/prepass"
	"github.com/toolquay/toolquay/plugins/worker"
)

// loadRows are what happens to a module once, before its first call.
func loadRows() []row {
	var list []row
	for name, module := range map[string]func(*lab) ([]byte, error){
		"the built-in Read": func(*lab) ([]byte, error) { return readModule() },
		"a plugin in Go":    (*lab).goPlugin,
	} {
		var size int
		list = append(list, row{
			name: "the pre-pass over " + name, ours: rewrite(module, &size),
			baseline: "wazero compiling it", theirs: compile(module),
			compare: func(ours, _ time.Duration) string { return rate(size, ours) }, limit: "at least 20 MB/s",
		})
	}
	return append(list, row{
		name: "compiling the built-in Read in a child process", ours: compileInChild,
		baseline: "in this one", theirs: compile(func(*lab) ([]byte, error) { return rewrittenRead() }),
		compare: difference, limit: "for the picture",
	})
}

func rewrite(module func(*lab) ([]byte, error), size *int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		wasm, err := module(l)
		if err != nil {
			b.Fatal(err)
		}
		*size = len(wasm)
		b.SetBytes(int64(len(wasm)))
		for b.Loop() {
			if _, err := prepass.Rewrite(wasm, prepass.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func compile(module func(*lab) ([]byte, error)) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		ctx := context.Background()
		wasm, err := module(l)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r := wazero.NewRuntime(ctx)
			if _, err := r.CompileModule(ctx, wasm); err != nil {
				b.Fatal(err)
			}
			if err := r.Close(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func rewrittenRead() ([]byte, error) {
	wasm, err := readModule()
	if err != nil {
		return nil, err
	}
	m, err := prepass.Rewrite(wasm, prepass.Options{})
	if err != nil {
		return nil, err
	}
	return m.Wasm, nil
}

func compileInChild(b *testing.B, l *lab) {
	wasm, err := rewrittenRead()
	if err != nil {
		b.Fatal(err)
	}
	command, err := worker.Self()
	if err != nil {
		b.Fatal(err)
	}
	var compiler plugins.Compiler = worker.NewCompiler(worker.Options{Command: command})
	for i := 0; b.Loop(); i++ {
		dir := filepath.Join(l.dir, "compiled", strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := compiler.Compile(context.Background(), dir, wasm); err != nil {
			b.Fatal(err)
		}
	}
}
