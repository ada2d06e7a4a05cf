package worker_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// section encodes a section of a module.
func section(id byte, content []byte) []byte {
	return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
}

// moduleWith is a module of one function, () -> (), with that body.
func moduleWith(body []byte) []byte {
	code := append([]byte{0}, body...) // no locals
	code = append(code, 0x0b)
	code = append(binary.AppendUvarint([]byte{1}, uint64(len(code))), code...)
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{1, 0x60, 0, 0}),
		section(3, []byte{1, 0}),
		section(10, code),
	}, nil)
}

// nestedLoops compiles for half a minute: each loop is a branch target that
// everything within it may go back to.
func nestedLoops(n int) []byte {
	loop := []byte{0x03, 0x40, 0x41, 0x00, 0x0d, 0x00} // loop (br_if 0 (i32.const 0))
	return moduleWith(append(bytes.Repeat(loop, n), bytes.Repeat([]byte{0x0b}, n)...))
}

func cacheDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newCompiler(t *testing.T, change func(*worker.Options)) *worker.Compiler {
	t.Helper()
	o := options(t)
	if change != nil {
		change(&o)
	}
	c := worker.NewCompiler(o)
	t.Cleanup(c.Close)
	return c
}

func TestCompilerLeavesCodeInTheCache(t *testing.T) {
	dir := cacheDir(t)
	if err := newCompiler(t, nil).Compile(t.Context(), dir, moduleWith(nil)); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files++
		}
		return err
	})
	if err != nil || files != 1 {
		t.Errorf("the cache holds %d files, %v", files, err)
	}
}

// TestCompilerServesARunner has the direct runner compile a stranger's module
// elsewhere.
func TestCompilerServesARunner(t *testing.T) {
	c := &counting{Compiler: newCompiler(t, nil)}
	r := direct.New(direct.Options{CacheDir: cacheDir(t), Compiler: c})
	defer r.Close(context.Background())
	for range 2 {
		in, err := r.Load(t.Context(), moduleOf(fixture(t, "ok")))
		if err != nil {
			t.Fatal(err)
		}
		if result, err := in.Call(t.Context(), invocation("{}")); err != nil || result.Text() != "ok" {
			t.Errorf("got %q, %v", result.Text(), err)
		}
		if err := in.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if c.n != 1 {
		t.Errorf("it was compiled %d times", c.n)
	}
	in, err := r.Load(t.Context(), moduleOf(fixture(t, "echo"), func(m *plugins.Module) { m.Trusted = true }))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close(context.Background())
	if c.n != 1 {
		t.Error("a trusted module was compiled in a child")
	}
}

type counting struct {
	plugins.Compiler
	n int
}

func (c *counting) Compile(ctx context.Context, dir string, wasm []byte) error {
	c.n++
	return c.Compiler.Compile(ctx, dir, wasm)
}

func TestCompilerRefuses(t *testing.T) {
	t.Parallel()
	program := func(path string) func(*worker.Options) {
		return func(o *worker.Options) { o.Command = []string{path} }
	}
	mute, echo := testenv.NeedTool(t, "true"), testenv.NeedTool(t, "cat")
	tests := map[string]struct {
		change func(*worker.Options)
		wasm   []byte
		code   abi.Code
		says   []string
	}{
		"no wasm":        {nil, []byte("#!/bin/sh"), abi.CodeLoad, []string{"does not compile"}},
		"broken body":    {nil, moduleWith([]byte{0x6a}), abi.CodeLoad, []string{"does not compile"}},
		"too slow":       {func(o *worker.Options) { o.CompileTime = 300 * time.Millisecond }, nestedLoops(16_000), abi.CodeLoad, []string{"took longer than 300ms"}},
		"too large":      {func(o *worker.Options) { o.CompileMemory = 80 << 20 }, append(moduleWith(nil), section(0, make([]byte, 128<<20))...), abi.CodeLoad, []string{"needed more than 80MiB of memory"}},
		"no program":     {func(o *worker.Options) { o.Command = nil }, nil, abi.CodeUnsupported, []string{"starts no worker processes"}},
		"relative":       {program("toolquay"), nil, abi.CodeUnsupported, []string{"absolute path"}},
		"not there":      {program("/not/there"), nil, abi.CodeIO, []string{"starting a worker", "/not/there"}},
		"another":        {program(mute), nil, abi.CodeLoad, []string{mute + " does not answer as a worker does"}},
		"one that echos": {program(echo), nil, abi.CodeLoad, []string{echo + " does not answer as a worker does"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "too large" {
				testenv.Permitted(t, testenv.Linux) // elsewhere nobody tells how much another process has
			}
			began := time.Now()
			err := newCompiler(t, test.change).Compile(t.Context(), cacheDir(t), test.wasm)
			runnertest.WantCode(t, err, test.code, test.says...)
			if took := time.Since(began); took > testenv.Patience/2 { // the loops would take as long
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestCompilingCanBeGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(errors.New("the user went home")) })
	began := time.Now()
	err := newCompiler(t, nil).Compile(ctx, cacheDir(t), nestedLoops(16_000))
	runnertest.WantCode(t, err, abi.CodeCancelled, "was given up", "the user went home")
	if took := time.Since(began); took > testenv.Patience/4 {
		t.Errorf("it took %v", took)
	}
}

// TestCompilesAreBounded asks for six at once: two run, the others wait.
func TestCompilesAreBounded(t *testing.T) {
	const each = 100 * time.Millisecond
	c := newCompiler(t, func(o *worker.Options) { o.CompileTime = each })
	bomb := nestedLoops(16_000)
	var wg sync.WaitGroup
	began := time.Now()
	for range 6 {
		wg.Go(func() {
			runnertest.WantCode(t, c.Compile(t.Context(), cacheDir(t), bomb), abi.CodeLoad, "took longer")
		})
	}
	wg.Wait()
	if took := time.Since(began); took < 3*each {
		t.Errorf("six took %v, two at a time %v each", took, each)
	}
}

// TestCompilesThatWaitCanBeGivenUp behind one that does not end soon.
func TestCompilesThatWaitCanBeGivenUp(t *testing.T) {
	c := newCompiler(t, func(o *worker.Options) { o.Compiles = 1 })
	ended := make(chan error, 1)
	go func() { ended <- c.Compile(context.Background(), cacheDir(t), nestedLoops(16_000)) }()
	for c.Compiling() == 0 {
		time.Sleep(time.Millisecond)
	}
	for cause, code := range map[error]abi.Code{
		context.DeadlineExceeded:         abi.CodeTimeout,
		errors.New("the user went home"): abi.CodeCancelled,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		runnertest.WantCode(t, c.Compile(ctx, cacheDir(t), moduleWith(nil)), code, "before its turn came", cause.Error())
	}
	c.Close()
	runnertest.WantCode(t, <-ended, abi.CodeCancelled, "the compiler is closed")
}

func TestClosedCompiler(t *testing.T) {
	c := worker.NewCompiler(options(t))
	ended := make(chan error, 1)
	go func() { ended <- c.Compile(context.Background(), cacheDir(t), nestedLoops(16_000)) }()
	time.Sleep(100 * time.Millisecond)
	c.Close()
	runnertest.WantCode(t, <-ended, abi.CodeCancelled, "the compiler is closed")
	runnertest.WantCode(t, c.Compile(t.Context(), cacheDir(t), moduleWith(nil)), abi.CodeCancelled, "closed")
}
