package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolquay/toolquay/plugins/prepass"
)

//go:embed guests/*/*.wasm
var guestModules embed.FS

// goGuest is the guest that is not committed: it has 3 MB, and a Go compiler is
// always at hand.
const goGuest = "gojson"

const goGuestPackage = "github.com/toolquay/toolquay/host/internal/test/bench/guests/" + goGuest

// A guest here gets as much fuel at a time as it gets from a host, and lets others go
// first as often.
const (
	quantum  = 1_000_000
	turnTime = time.Millisecond
)

// armed is how a guest runs: what can stop it.
type armed int

const (
	unarmed armed = iota // nothing can
	fuelled              // the pre-pass's fuel
	checked              // wazero's check of the context
)

// work is what one of the guests does.
type work struct {
	name  string
	guest string
	// size is what the guest is prepared with: bytes, or pixels of width.
	size uint64
}

var works = []work{
	{"serde, a document of 100 B", "serde", 100},
	{"serde, a document of 100 KB", "serde", 100_000},
	{"numbering the lines of 1 MB", "lines", 1_000_000},
	{"find and replace in 1 MB", "replace", 1_000_000},
	{"scaling 12 megapixels", "scale", 2000},
	{"two regular expressions over 1 MB", "regex", 1_000_000},
	{"Go, encoding/json, a document of 100 KB", "gojson", 100_000},
}

// fuelRows compare the same work with fuel, and with wazero's own check, to the
// same work that nothing can stop.
func fuelRows() []row {
	var list []row
	for _, w := range works {
		list = append(list, row{
			name: "fuel: " + w.name, ours: w.bench(fuelled),
			baseline: "without", theirs: w.bench(unarmed),
			compare: ratio, limit: "at most 1.15x", fine: true,
		}, row{
			name: "wazero's check: " + w.name, ours: w.bench(checked),
			baseline: "without", theirs: w.bench(unarmed),
			compare: ratio, limit: "what fuel replaces",
		})
	}
	return list
}

// bench does the work over and over in one instance, and holds its checksum
// against those of the guest armed otherwise.
func (w work) bench(a armed) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		g, err := l.guests.guest(w, a)
		if err != nil {
			b.Fatal(err)
		}
		want, known := l.guests.sums[w.name]
		stack := make([]uint64, 1)
		for b.Loop() {
			if err := g.run.CallWithStack(g.ctx, stack); err != nil {
				b.Fatal(err)
			}
		}
		if sum := uint32(stack[0]); known && sum != want {
			b.Fatalf("%s: the checksum is %#x, and %#x as armed before", w.name, sum, want)
		}
		l.guests.sums[w.name] = uint32(stack[0])
	}
}

// guest is an instance that is prepared for its work.
type guest struct {
	// ctx could be cancelled, as the contexts of real calls can.
	ctx context.Context
	run api.Function
}

// guests are those made so far: making one costs more than a measurement.
type guests struct {
	ctx      context.Context
	stop     context.CancelFunc
	dir      string
	runtimes map[armed]wazero.Runtime
	made     map[string]guest
	sums     map[string]uint32
	yielded  time.Time
}

func newGuests(dir string) *guests {
	g := &guests{dir: dir, runtimes: make(map[armed]wazero.Runtime), made: make(map[string]guest), sums: make(map[string]uint32)}
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

func (g *guests) close() error {
	g.stop()
	var errs []error
	for _, r := range g.runtimes {
		errs = append(errs, r.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// runtime is the runtime of guests armed that way.
func (g *guests) runtime(a armed) (wazero.Runtime, error) {
	if r := g.runtimes[a]; r != nil {
		return r, nil
	}
	r := wazero.NewRuntimeWithConfig(g.ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(a == checked))
	g.runtimes[a] = r
	if _, err := wasi_snapshot_preview1.Instantiate(g.ctx, r); err != nil {
		return nil, err
	}
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := r.NewHostModuleBuilder(prepass.ImportModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(g.refill), i64, i64).Export(prepass.ImportRefill).Instantiate(g.ctx)
	return r, err
}

// refill does what a host's does, so that it is part of what is measured.
func (g *guests) refill(ctx context.Context, stack []uint64) {
	if ctx.Err() != nil {
		panic(context.Cause(ctx))
	}
	if now := time.Now(); now.Sub(g.yielded) >= turnTime {
		runtime.Gosched()
		g.yielded = now
	}
	stack[0] = quantum
}

// guest makes the instance that does w, or finds it made.
func (g *guests) guest(w work, a armed) (guest, error) {
	key := fmt.Sprint(w, a)
	if made, ok := g.made[key]; ok {
		return made, nil
	}
	wasm, err := g.module(w.guest)
	if err != nil {
		return guest{}, err
	}
	if a == fuelled {
		rewritten, err := prepass.Rewrite(wasm, prepass.Options{})
		if err != nil {
			return guest{}, err
		}
		wasm = rewritten.Wasm
	}
	r, err := g.runtime(a)
	if err != nil {
		return guest{}, err
	}
	// Several instances of one module need no name each.
	mod, err := r.InstantiateWithConfig(g.ctx, wasm, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return guest{}, err
	}
	if _, err := mod.ExportedFunction("prepare").Call(g.ctx, w.size); err != nil {
		return guest{}, err
	}
	g.made[key] = guest{g.ctx, mod.ExportedFunction("run")}
	return g.made[key], nil
}

// module is a guest's module: committed, or built where it is Go.
func (g *guests) module(name string) ([]byte, error) {
	if name != goGuest {
		return guestModules.ReadFile("guests/" + name + "/" + name + ".wasm")
	}
	return goBuild(filepath.Join(g.dir, goGuest+".wasm"), "", goGuestPackage)
}
