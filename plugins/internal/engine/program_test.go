package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/prepass"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRewritingIsNamed holds rewriting.sum, which is part of every key of the
// cache, to what the pre-pass writes: with another text there, programs do not use
// what earlier ones left. It has a line for each of a few modules, with the sums
// of the module and of what it becomes. Modules that are not there say nothing.
func TestRewritingIsNamed(t *testing.T) {
	if *update {
		if err := os.WriteFile("rewriting.sum", []byte(rewritings(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	known := make(map[string]string)
	for line := range strings.Lines(rewriting) {
		module, written, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[module] = written
	}
	compared := 0
	for line := range strings.Lines(rewritings(t)) {
		module, written, _ := strings.Cut(strings.TrimSpace(line), " ")
		want, ok := known[module]
		if ok && want != written {
			t.Error("the pre-pass writes something else than rewriting.sum says; run go test -run Rewriting -update ./plugins/internal/engine")
		}
		if ok {
			compared++
		}
	}
	if compared == 0 {
		t.Error("rewriting.sum knows none of the modules; run go test -run Rewriting -update ./plugins/internal/engine")
	}
}

// rewritings is what rewriting.sum is to hold.
func rewritings(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.wasm")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var lines strings.Builder
	for _, file := range files {
		wasm, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := prepass.Rewrite(wasm, prepass.Options{MaxMemory: 64 * mib})
		if err != nil {
			t.Fatal(file, err)
		}
		facts, err := json.Marshal(m.Facts)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%x %x\n", sha256.Sum256(wasm), sha256.Sum256(append(m.Wasm, facts...)))
	}
	return lines.String()
}

// elsewhere is a compiler that uses nothing of the engine that asks it, as one
// in another process.
type elsewhere struct{ compiled atomic.Int32 }

func (c *elsewhere) Compile(ctx context.Context, dir string, wasm []byte) error {
	c.compiled.Add(1)
	return CompileInto(ctx, dir, wasm)
}

func sourceOf(wasm []byte) Source {
	return Source{Hash: sha256.Sum256(wasm), Wasm: wasm, MaxMemory: mib}
}

// compileOnce compiles in an engine of its own, as a new process would.
func compileOnce(tb testing.TB, o Options, s Source) error {
	tb.Helper()
	e := New(o)
	p, err := e.Compile(tb.Context(), s)
	if err == nil {
		err = p.Close(tb.Context())
	}
	return errors.Join(err, e.Close(tb.Context()))
}

// filesIn lists the files of a cache.
func filesIn(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "wazero-*", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// codeIn lists the files of compiled code.
func codeIn(t *testing.T, dir string) []string {
	t.Helper()
	return filesIn(t, dir, "*/"+codeDir+"/*/*")
}

// TestStrangersAreCompiledElsewhere, once: then their code is in the cache, and
// the engine does not compile it itself.
func TestStrangersAreCompiledElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var c elsewhere
	s := sourceOf(fixture(t, "state_3"))
	for range 3 {
		if err := compileOnce(t, Options{CacheDir: dir, Compiler: &c}, s); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.compiled.Load(); n != 1 {
		t.Errorf("it was compiled %d times", n)
	}
	// An engine that compiled it again would have left an entry more.
	entries, left := codeIn(t, dir), filesIn(t, dir, temporaryPrefix+"*")
	if len(entries) != 1 || len(left) != 0 {
		t.Errorf("the cache holds %q, %q", entries, left)
	}
	s.Trusted = true
	s.Wasm = fixture(t, "wasi")
	s.Hash = sha256.Sum256(s.Wasm)
	if err := compileOnce(t, Options{CacheDir: dir, Compiler: &c}, s); err != nil {
		t.Fatal(err)
	}
	if n := c.compiled.Load(); n != 1 {
		t.Error("a trusted module was compiled elsewhere")
	}
}

// TestOneModuleInManyProcesses compiles a module in several engines at once, as
// processes do that are started together: none deletes what another put there.
func TestOneModuleInManyProcesses(t *testing.T) {
	t.Parallel()
	for range testenv.Sample(10) {
		var log bytes.Buffer
		o := Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Logger: slog.New(slog.NewTextHandler(&log, nil))}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := compileOnce(t, o, victimSource()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if log.String() != "" {
			t.Fatalf("logged %s", log.String())
		}
	}
}

// TestCompilingElsewhereWithoutCache uses a directory of the process's own.
func TestCompilingElsewhereWithoutCache(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	var c elsewhere
	e := New(Options{Compiler: &c})
	p, err := e.Compile(t.Context(), sourceOf(fixture(t, "state_3")))
	if err != nil {
		t.Fatal(err)
	}
	if c.compiled.Load() != 1 || e.loader.temporary == nil {
		t.Error("it was compiled here")
	}
	if err := errors.Join(p.Close(t.Context()), e.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(e.loader.temporary.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", e.loader.temporary.Path, err)
	}
}

// blocking is a compiler that compiles until it is told to stop.
type blocking struct{ busy atomic.Int32 }

func (c *blocking) Compile(ctx context.Context, _ string, _ []byte) error {
	c.busy.Add(1)
	<-ctx.Done()
	return abi.Errorf(abi.CodeCancelled, "%w", context.Cause(ctx))
}

// TestFewModulesAreCompiledAtOnce and those that wait can be given up as well.
func TestFewModulesAreCompiledAtOnce(t *testing.T) {
	var c blocking
	e := newEngine(t, func(o *Options) { o.CacheDir, o.Compiler = filepath.Join(t.TempDir(), "cache"), &c })
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			wasm := append(fixture(t, "state_3"), 0, 2, 1, byte(i)) // a custom section
			_, err := e.Compile(ctx, sourceOf(wasm))
			if abi.CodeOf(err) != abi.CodeCancelled || !errors.Is(err, errGone) {
				t.Errorf("got %v", err)
			}
		})
	}
	for c.busy.Load() < maxCompiling {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	cancel(errGone)
	wg.Wait()
	if n := c.busy.Load(); n != maxCompiling {
		t.Errorf("%d were compiled at once", n)
	}
}

// TestRewrittenModulesAreKept and written anew where they are damaged, or where
// the options differ.
func TestRewrittenModulesAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := sourceOf(fixture(t, "state_3"))
	if err := compileOnce(t, Options{CacheDir: dir}, s); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{moduleFile, storedJSON, codeDir + "/*/*"} {
		kept := filesIn(t, dir, "*/"+file)
		if len(kept) != 1 {
			t.Fatalf("%q are kept", kept)
		}
		whole, err := os.ReadFile(kept[0])
		if err != nil {
			t.Fatal(err)
		}
		for what, damage := range map[string][]byte{"cut": whole[:len(whole)-1], "empty": nil, "longer": append(whole, 0), "flipped": flipped(whole)} {
			if err := os.WriteFile(kept[0], damage, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := compileOnce(t, Options{CacheDir: dir}, s); err != nil {
				t.Errorf("%s %s: %v", file, what, err)
			}
			if again, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(again, whole) {
				t.Errorf("%s %s was not written anew: %v", file, what, err)
			}
		}
		if err := os.Remove(kept[0]); err != nil {
			t.Fatal(err)
		}
		if err := compileOnce(t, Options{CacheDir: dir}, s); err != nil {
			t.Errorf("without %s: %v", file, err)
		}
	}
	s.MaxMemory *= 2
	if err := compileOnce(t, Options{CacheDir: dir}, s); err != nil {
		t.Fatal(err)
	}
	if kept := filesIn(t, dir, "*/"+moduleFile); len(kept) != 2 {
		t.Errorf("%q are kept", kept)
	}
}

func TestRefusedModules(t *testing.T) {
	e := newEngine(t)
	for name, wasm := range map[string][]byte{"empty": nil, "text": []byte("hello"), "cut": fixture(t, "state_3")[:60]} {
		if _, err := e.Compile(t.Context(), sourceOf(wasm)); abi.CodeOf(err) != abi.CodeLoad {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// failing is a compiler that refuses.
type failing struct{}

func (failing) Compile(context.Context, string, []byte) error {
	return abi.Errorf(abi.CodeLoad, "too much")
}

// TestRefusedModulesAreNotKept: what does not compile leaves nothing on disk.
func TestRefusedModulesAreNotKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := compileOnce(t, Options{CacheDir: dir, Compiler: failing{}}, sourceOf(fixture(t, "state_3"))); err == nil {
		t.Fatal("it compiles")
	}
	if left := filesIn(t, dir, "*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// flipped is a damaged file: one bit in its middle is another.
func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)/2] ^= 1
	return b
}

// TestNothingIsCompiledHere where the code that a module was to have is gone, even
// though it could be: the process that loads strangers' modules does not compile them.
// If this fails after wazero was updated, its compiler does not end with the context any
// more.
func TestNothingIsCompiledHere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := sourceOf(fixture(t, "state_3"))
	e := newEngine(t, func(o *Options) { o.CacheDir = dir })
	if err := e.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := s.key()
	re, err := e.loader.ready(t.Context(), key, &s)
	if err != nil {
		t.Fatal(err)
	}
	defer re.close()
	re.code = nil
	if _, err := e.loader.load(t.Context(), key, re); !errors.Is(err, errNoCode) {
		t.Errorf("got %v", err)
	}
}

// TestInterpretersNeedNoCode: wazero takes to its interpreter by itself where memory
// cannot be made executable, and finds no use for what a cache holds.
func TestInterpretersNeedNoCode(t *testing.T) {
	c := openCache(filepath.Join(t.TempDir(), "cache"), slog.New(slog.DiscardHandler))
	s := sourceOf(fixture(t, "state_3"))
	key := s.key()
	m, err := rewrite(&s, DefaultMaxModule)
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCompilationCache(c.wazero))
	defer r.Close(t.Context())
	if _, err := c.load(t.Context(), r, key, &rewritten{wasm: buffer{b: m.Wasm}}); err != nil {
		t.Error(err)
	}
}

// TestAbandonedDirectoriesAreSwept with the next module that is compiled, others not.
func TestAbandonedDirectoriesAreSwept(t *testing.T) {
	c := openCache(filepath.Join(t.TempDir(), "cache"), slog.New(slog.DiscardHandler))
	old, err := c.temporary()
	if err != nil {
		t.Fatal(err)
	}
	young, err := c.temporary()
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	c.sweep()
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old one: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

// BenchmarkWarmCompile is what a module costs a process whose cache holds it.
func BenchmarkWarmCompile(b *testing.B) {
	wasm, err := os.ReadFile(filepath.Join("..", "..", "..", "builtin", "files", "files.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	s := sourceOf(wasm)
	s.Trusted = true
	if err := compileOnce(b, Options{CacheDir: testenv.CompileCache()}, s); err != nil {
		b.Fatal(err)
	}
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			if err := compileOnce(b, Options{CacheDir: testenv.CompileCache()}, s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the pre-pass alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := rewrite(&s, DefaultMaxModule); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the pre-pass from the cache", func(b *testing.B) {
		e := newEngine(b)
		if err := e.open(context.Background()); err != nil {
			b.Fatal(err)
		}
		key := s.key()
		for b.Loop() {
			known := s
			re := e.loader.known(key, &known)
			if re == nil {
				b.Fatal("it is not there")
			}
			re.close()
		}
	})
}

// TestCompilerPanics holds that a module on which the engine's validation panics
// ends its own load alone. It calls a function of a type that is not there.
func TestCompilerPanics(t *testing.T) {
	wasm := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x03\x02\x00\x10\x0a\x09\x02\x04\x00\x10\x01\x0b\x02\x00\x0b")
	if err := CompileInto(t.Context(), t.TempDir(), wasm); abi.CodeOf(err) != abi.CodeLoad || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("compiled unseen by the pre-pass, it gives %v; want a panic told as an error, or another module that shows one", err)
	}
	if _, err := newEngine(t).Compile(t.Context(), Source{Wasm: wasm}); abi.CodeOf(err) != abi.CodeLoad || strings.Contains(err.Error(), "panicked") {
		t.Errorf("the pre-pass lets it through: %v", err)
	}
}
