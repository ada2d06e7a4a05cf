package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		os.Exit(helper())
	}
	if os.Getenv(spoilEnv) != "" {
		os.Exit(spoil())
	}
	os.Exit(m.Run())
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func newEngine(tb testing.TB, change ...func(*Options)) *Engine {
	tb.Helper()
	o := Options{CacheDir: testenv.CompileCache()}
	for _, c := range change {
		c(&o)
	}
	e := New(o)
	tb.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func compile(tb testing.TB, e *Engine, wasm []byte, maxMemory int64) *Program {
	tb.Helper()
	p, err := e.Compile(context.Background(), Source{Hash: sha256.Sum256(wasm), Wasm: wasm, Trusted: true, MaxMemory: maxMemory})
	if err == nil {
		err = e.LinkWASI(context.Background())
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// guest is what the tests keep beside an instance.
type guest struct{ mod api.Module }

// call calls an export in a run of its own.
func (g guest) call(ctx context.Context, limit time.Duration, export string, args ...uint64) (uint64, error) {
	run := &Run{}
	ctx = run.under(ctx, limit)
	defer run.End()
	return g.callIn(ctx, export, args...)
}

func (g guest) callIn(ctx context.Context, export string, args ...uint64) (uint64, error) {
	results, err := g.mod.ExportedFunction(export).Call(ctx, args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return results[0], nil
}

func (g guest) must(tb testing.TB, export string, args ...uint64) uint64 {
	tb.Helper()
	v, err := g.call(context.Background(), time.Minute, export, args...)
	if err != nil {
		tb.Fatalf("%s: %v", export, err)
	}
	return v
}

// planOf is a plan whose start calls an export, "" for none.
func planOf(p *Program, maxMemory int64, policy Policy, start string) Plan[guest] {
	return Plan[guest]{
		Name:   "fixture",
		Parts:  []Part{{Program: p, MaxMemory: maxMemory}},
		Policy: policy,
		Time:   testenv.Patience,
		Bind:   func(m []api.Module) (guest, error) { return guest{m[0]}, nil },
		Init: func(ctx context.Context, g guest) error {
			if start == "" {
				return nil
			}
			_, err := g.callIn(ctx, start)
			return err
		},
		Fail: func(_ *Run, err error) error { return fmt.Errorf("starting: %w", err) },
	}
}

func newPool(tb testing.TB, e *Engine, plan Plan[guest]) *Pool[guest] {
	tb.Helper()
	p := NewPool(e, plan)
	tb.Cleanup(p.Close)
	return p
}

func take(tb testing.TB, p *Pool[guest]) *Instance[guest] {
	tb.Helper()
	in, err := p.Take(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return in
}

// settle waits for what the pool does off the path.
func settle[T any](p *Pool[T]) {
	for deadline := time.Now().Add(testenv.Patience); time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		p.mu.Lock()
		making := p.demand.making
		p.mu.Unlock()
		if making == 0 {
			return
		}
	}
}

var errGone = errors.New("the user went home")

// helperEnv names what a child process of a test does.
const helperEnv = "TOOLQUAY_ENGINE_TEST"

// inChild runs a test helper in a child process.
func inChild(t *testing.T, what string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), helperEnv+"="+what)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFixturesAreBuiltFromSource assembles every fixture again.
func TestFixturesAreBuiltFromSource(t *testing.T) {
	testenv.NeedTool(t, "wat2wasm")
	dir := t.TempDir()
	if out, err := exec.Command("sh", "testdata/build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil || len(built) == 0 {
		t.Fatalf("%d fixtures were built, %v", len(built), err)
	}
	for _, file := range built {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("testdata", filepath.Base(file)))
		if err != nil || string(have) != string(want) {
			t.Errorf("testdata/%s is not what its source gives; run testdata/build.sh", filepath.Base(file))
		}
	}
}
