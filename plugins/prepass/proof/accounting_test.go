package proof

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/internal/testenv"
)

// The law of fuel: what a run of a module takes, it has paid for.
//
//	operations   <= fuel + perEntry * entries
//	instructions <= maxInstructions * (fuel + perEntry * entries)
//
// An entry is a call from outside. Were it broken, a guest could be written that
// runs on and on while it uses no fuel, and so is never stopped.
//
// maxInstructions is more than 1 as some of them weigh nothing that only say
// where a value lies: select, for one, has three operands, which are read, and
// one result, which is dropped.
const maxInstructions = 5

// maxPerEntry bounds perEntry. It is far below what is handed out at once.
const maxPerEntry = 2048

// perEntry is what an exported function may take without paying for it, found
// out by trial: the pre-pass is free to choose.
func perEntry(tb testing.TB) int64 {
	tb.Helper()
	n := sort.Search(maxPerEntry/3, func(n int) bool {
		b := &caseBuilder{}
		b.run(line(3 * n))
		l := newLab(tb.Context(), tb, interpreter.config(), treatment{"rewritten", payable, 1})
		defer l.close(tb.Context(), tb)
		l.allow(allowance)
		m, o := l.instantiate(b.m.Bytes())
		if o.class != returned || call(l.ctx, m, "run", []uint64{0}).class != returned {
			tb.Fatalf("a line does not run: %s", o)
		}
		return l.fuel != allowance
	})
	if n == maxPerEntry/3 {
		tb.Errorf("an exported function of %d instructions pays nothing", 3*n)
	}
	return 3*int64(n) + 3
}

// account is a module that is run twice: as it is, with its instructions
// counted, and rewritten, with its fuel counted.
type account struct {
	worker, payer *subject
	entries       int64
	allowed       int64 // fuel that all calls together may use
	// before is what was there after the last step.
	before entry
	worst  *ratios
}

// entry is what was worked and paid up to some moment.
type entry struct {
	work
	fuel int64
}

// ratios are the extremes over many steps.
type ratios struct {
	perEntry                       int64
	operations, instructions, fuel float64
	steps                          int
	total                          entry
	ended                          map[class]int
}

func newRatios(perEntry int64) *ratios {
	return &ratios{perEntry: perEntry, ended: map[class]int{}}
}

func (r *ratios) String() string {
	return fmt.Sprintf("%d units free for each entry; %d steps (%v); per unit of fuel at most %.2f operations and %.2f instructions; at most %.0f units per operation; in all %+v",
		r.perEntry, r.steps, r.ended, r.operations, r.instructions, r.fuel, r.total)
}

// allowance is more fuel than any module here uses that ends.
const allowance = 1 << 40

func newAccount(tb testing.TB, e engine, quantum int64, worst *ratios) *account {
	tb.Helper()
	open := func(how treatment) *subject {
		config := e.config().WithMemoryLimitPages(memoryPages).WithCoreFeatures(everything)
		return &subject{lab: newLab(tb.Context(), tb, config, how), name: how.name}
	}
	return &account{
		worker:  open(treatment{"metered", metered, 0}),
		payer:   open(treatment{"rewritten", payable, quantum}),
		worst:   worst,
		allowed: allowance,
	}
}

func (a *account) close(ctx context.Context, tb testing.TB) {
	tb.Helper()
	a.worker.close(ctx, tb)
	a.payer.close(ctx, tb)
}

// open compiles and instantiates the module; done says that it does not get as
// far as to be called.
func (a *account) open(wasm []byte) (done bool, err error) {
	for _, s := range []*subject{a.payer, a.worker} {
		if s.compiled, err = s.compile(wasm); s == a.payer && err != nil {
			return true, nil //nolint:nilerr // refused, as other tests know
		} else if err != nil {
			return true, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	a.payer.allow(a.allowed)
	ended := a.payer.start(wasm)
	if ended.class != returned {
		return true, nil
	}
	if o := a.worker.start(wasm); o.class != returned {
		return true, fmt.Errorf("instantiation: %s, metered: %s", ended, o)
	}
	a.entries++
	return false, a.audit("instantiation", returned)
}

// invoke calls a function of both; done says that it was stopped.
func (a *account) invoke(name string, args []uint64) (done bool, err error) {
	paid := a.payer.invoke(name, args)
	a.worst.ended[paid.class]++
	if paid.stopped() {
		return true, nil
	}
	what := fmt.Sprintf("%s(%x)", name, args)
	if o := a.worker.invoke(name, args); o.class != paid.class {
		return true, fmt.Errorf("%s: %s, metered: %s", what, paid, o)
	}
	a.entries++
	return false, a.audit(what, paid.class)
}

// audit holds what was done since the last time, and what was done so far,
// against the law.
func (a *account) audit(what string, ended class) error {
	now := entry{
		work: counted(a.worker.module),
		fuel: a.allowed - a.payer.fuel - global(a.payer.module, fuelGlobal),
	}
	last := entry{work{now.instructions - a.before.instructions, now.operations - a.before.operations}, now.fuel - a.before.fuel}
	a.before = now
	a.worst.add(last, ended == returned)
	if err := last.lawful(a.worst.perEntry); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := now.lawful(a.worst.perEntry * a.entries); err != nil {
		return fmt.Errorf("up to %s: %w", what, err)
	}
	return nil
}

// lawful holds it against the law, with so much that need not be paid for.
func (e entry) lawful(free int64) error {
	paid := e.fuel + free
	if e.operations > paid || e.instructions > maxInstructions*paid {
		return fmt.Errorf("%d operations, %d instructions for %d units of fuel", e.operations, e.instructions, e.fuel)
	}
	return nil
}

// add takes a step into the extremes. What an entry may have for nothing counts
// as paid here; short runs say little, and are left out of the extremes. So are, of
// the overcharge, runs that trapped: what they had paid in advance is lost.
func (r *ratios) add(e entry, returned bool) {
	r.steps++
	r.total.work = r.total.plus(e.work)
	r.total.fuel += e.fuel
	if paid := float64(e.fuel + r.perEntry); e.instructions > 100 {
		r.operations = max(r.operations, float64(e.operations)/paid)
		r.instructions = max(r.instructions, float64(e.instructions)/paid)
	}
	if returned {
		r.fuel = max(r.fuel, float64(e.fuel)/float64(e.operations+r.perEntry))
	}
}

func counted(m api.Module) work {
	return work{global(m, instructionsGlobal), global(m, operationsGlobal)}
}

// global reads one that these tests export, or 0 where there is no code.
func global(m api.Module, name string) int64 {
	if g := m.ExportedGlobal(name); g != nil {
		return int64(g.Get())
	}
	return 0
}

// TestAccountingOfRandomModules holds random modules against the law.
// FuzzAccounting is the same with a fuzzer's bytes.
func TestAccountingOfRandomModules(t *testing.T) {
	t.Parallel()
	modules := 300 / sampleEvery()
	worst := newRatios(perEntry(t))
	for seed := range uint64(modules) {
		accountExports(t, wasmgen.Seeded(seed), seed, allowance, worst)
	}
	t.Logf("%d modules: %s", modules, worst)
}

// FuzzAccounting holds the random modules, and the random shapes, of any bytes
// against the law.
func FuzzAccounting(f *testing.F) {
	for seed := range uint64(8) {
		f.Add([]byte{byte(seed), 1, 2}, seed)
	}
	free := perEntry(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		worst := newRatios(free)
		accountExports(t, wasmgen.Random(data), seed, allowance, worst)
		accountShape(t, seed, worst)
	})
}

// maxOvercharge is how many units of fuel a real module may pay for an operation
// in a call that returns.
const maxOvercharge = 50

// TestAccountingOfRealModules holds the modules of the specification's tests
// against the law. Some of their functions run for ever on arguments like these,
// and are stopped.
func TestAccountingOfRealModules(t *testing.T) {
	t.Parallel()
	worst := newRatios(perEntry(t))
	for i, wasm := range realModules(t) {
		accountExports(t, wasm, uint64(i), mutantFuel, worst)
	}
	if worst.fuel > maxOvercharge {
		t.Errorf("%.0f units of fuel for an operation; a host asked for more all the time slows guests down", worst.fuel)
	}
	t.Log(worst)
}

// accountExports calls each function that a module exports, with arguments of
// the seed.
func accountExports(t *testing.T, wasm []byte, seed uint64, allowed int64, worst *ratios) {
	t.Helper()
	// The interpreter, as what the compiler leaves behind a trap depends on the code
	// around it, which metering changes.
	a := newAccount(t, interpreter, []int64{100, 1000, 1 << 20}[seed%3], worst)
	defer a.close(t.Context(), t)
	a.allowed = allowed
	done, err := a.open(wasm)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	if done {
		return
	}
	random := rand.New(rand.NewPCG(seed, 1))
	functions := a.payer.compiled.ExportedFunctions()
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		done, err := a.invoke(name, arguments(random, functions[name].ParamTypes()))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if done {
			return
		}
	}
}

// TestAccountingOfShapes holds random control flow of long and short lines
// against the law.
func TestAccountingOfShapes(t *testing.T) {
	t.Parallel()
	modules := 200 / min(sampleEvery(), 4) // a twentieth finds too little
	worst := newRatios(perEntry(t))
	for seed := range uint64(modules) {
		accountShape(t, seed, worst)
	}
	t.Logf("%d modules: %s", modules, worst)
}

func accountShape(t *testing.T, seed uint64, worst *ratios) {
	t.Helper()
	e := engines()[0]
	if !testenv.Thorough() {
		e = interpreter // compiling takes longer than running does
	}
	runAccount(t, e, shapeModule(seed), fmt.Sprintf("seed %d", seed), []uint64{0, seed, seed >> 7, 1, 0xffff}, worst)
}

// runAccount calls run, of type [i32] -> [], of a module.
func runAccount(t *testing.T, e engine, wasm []byte, name string, args []uint64, worst *ratios) {
	t.Helper()
	a := newAccount(t, e, 64, worst)
	defer a.close(t.Context(), t)
	if done, err := a.open(wasm); done || err != nil {
		t.Fatalf("%s: not started: %v", name, err)
	}
	for _, n := range args {
		done, err := a.invoke("run", []uint64{uint64(uint32(n))})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if done || err != nil {
			return
		}
	}
}
