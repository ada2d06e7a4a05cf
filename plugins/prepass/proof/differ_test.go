package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/plugins/prepass"
)

// memoryPages bounds the memories of compared modules, so that a module that
// grows and grows costs little.
const memoryPages = 64

// differential compares a module with its rewritten self.
type differential struct {
	original *subject
	others   []*subject
	globals  map[string]int // indexes of those the original exports
	memory   bool           // whether it has one
	ended    map[class]int
	fuel     int64 // what each call of a rewritten module may use
}

// newDifferential makes the subjects of one engine, and those of the
// interpreter besides if across is set. The caller closes it.
func newDifferential(ctx context.Context, tb testing.TB, e engine, across bool) *differential {
	tb.Helper()
	subjectOn := func(e engine, how treatment) *subject {
		config := e.config().WithMemoryLimitPages(memoryPages).WithCoreFeatures(everything).
			WithCloseOnContextDone(how.name == treatments[0].name) // see patience
		return &subject{lab: newLab(ctx, tb, config, how), name: how.name + ", " + e.name}
	}
	d := &differential{original: subjectOn(e, treatments[0]), ended: map[class]int{}, fuel: randomFuel}
	d.others = append(d.others, subjectOn(e, treatments[1]))
	if across {
		d.others = append(d.others, subjectOn(interpreter, treatments[2]))
	}
	return d
}

// close ends all subjects.
func (d *differential) close(ctx context.Context, tb testing.TB) {
	tb.Helper()
	for _, s := range append(d.others, d.original) {
		s.close(ctx, tb)
	}
}

// randomFuel is more than any call of a random module uses.
const randomFuel = 1 << 40

// compare runs the module as it is and rewritten, and returns what differs. The
// rewritten ones go first at every step: they end, and where they were stopped
// (out of fuel or stack), the original may not end at all, and the comparison
// ends there.
func (d *differential) compare(wasm []byte, random *rand.Rand) error {
	if done, err := d.compile(wasm); done || err != nil {
		return err
	}
	d.globals, d.memory = exportedGlobals(wasm), hasMemory(wasm, d.original.compiled)
	same, stopped, err := d.step("instantiation", func(s *subject) outcome {
		s.allow(d.fuel)
		return s.start(wasm)
	})
	if err != nil || stopped || same.class != returned {
		return err
	}
	functions := d.original.compiled.ExportedFunctions()
	for range 3 {
		for _, name := range slices.Sorted(maps.Keys(functions)) {
			args := arguments(random, functions[name].ParamTypes())
			what := fmt.Sprintf("%s(%x)", name, args)
			o, stopped, err := d.step(what, func(s *subject) outcome {
				s.allow(d.fuel)
				return s.invoke(name, args)
			})
			d.ended[o.class]++
			if err != nil || stopped {
				return err
			}
		}
	}
	return nil
}

// compile compiles the module for all; done says that there is nothing to run.
func (d *differential) compile(wasm []byte) (done bool, err error) {
	if claimsMore(wasm) {
		return true, nil
	}
	kept := bytes.Clone(wasm)
	var fault error
	d.original.compiled, fault = d.original.compile(wasm)
	valid := fault == nil
	for _, s := range d.others {
		s.compiled, err = s.compile(wasm)
		if !bytes.Equal(kept, wasm) {
			return true, errors.New("the pre-pass changed its input")
		}
		switch {
		case valid && err == nil:
		case valid && isRefusal(err), err == nil && isTolerated(fault):
			return true, nil
		case valid:
			return true, fmt.Errorf("%s: a valid module is %s: %w", s.name, compileClass(err), err)
		case err == nil:
			return true, fmt.Errorf("%s: an invalid module was made valid: %w", s.name, fault)
		}
	}
	return !valid, nil
}

// claimsMore reports whether a section says that it holds more than it can, or
// than is allowed: an engine that believes it allocates room for billions of
// functions.
func claimsMore(wasm []byte) bool {
	_, err := once(wasm)
	return err != nil && (strings.Contains(err.Error(), "length reaches past the end") || strings.Contains(err.Error(), "are allowed"))
}

// compareModule compares a module with its rewritten self on an engine. Where
// the compiler finds a difference and the interpreter none, it is not the
// rewriting that changed what the module says: the engine miscompiles one of
// the two, and the difference is logged.
func compareModule(t *testing.T, e engine, across bool, wasm []byte, seed uint64, fuel int64, calls map[class]int) error {
	t.Helper()
	compare := func(e engine, across bool, calls map[class]int) error {
		d := newDifferential(t.Context(), t, e, across)
		defer d.close(t.Context(), t)
		d.ended, d.fuel = calls, fuel
		return d.compare(wasm, rand.New(rand.NewPCG(seed, 0)))
	}
	err := compare(e, across, calls)
	if err == nil || e.name == interpreter.name {
		return err
	}
	if compare(interpreter, false, map[class]int{}) == nil {
		t.Logf("the compiler and the interpreter differ: %v", err)
		return nil
	}
	return err
}

// refusals are why the pre-pass may refuse a module that the engine takes, by
// what its error says; all are bounds or features left out on purpose.
var refusals = []string{
	// wazero reads the number of a vector instruction from fewer bytes than
	// were written.
	"encoded in too many bytes",
	// wazero takes types of these in globals and their nulls, whether they exist
	// or not, also where the features are off.
	"typed function references or garbage collection proposal is not supported",
	"exception handling is not supported",
	// It takes any byte for the type of an imported table.
	"unknown value type",
}

func isRefusal(err error) bool {
	return compileClass(err) == refused && slices.ContainsFunc(refusals, func(reason string) bool {
		return strings.Contains(err.Error(), reason)
	})
}

// isTolerated reports whether the engine rejects a module that is valid by the
// specification: what is wrong with a custom section, such as that of names, is
// no fault. The pre-pass leaves such sections out.
func isTolerated(fault error) bool {
	return strings.HasPrefix(fault.Error(), "section custom") || strings.HasPrefix(fault.Error(), "failed to read custom section")
}

// step does the same with all subjects, rewritten ones first, and compares the
// outcomes and all that can be seen of the instances after.
func (d *differential) step(what string, do func(*subject) outcome) (same outcome, stopped bool, err error) {
	outcomes := make([]outcome, len(d.others))
	for i, s := range d.others {
		outcomes[i] = do(s)
		if outcomes[i].stopped() {
			return outcomes[i], true, nil
		}
	}
	same = do(d.original)
	if same.stopped() {
		return same, true, nil
	}
	for i, s := range d.others {
		if !same.equal(outcomes[i]) {
			return same, false, fmt.Errorf("%s: %s: %s; original: %s", what, s.name, outcomes[i], same)
		}
		if err := d.sameState(s); err != nil {
			return same, false, fmt.Errorf("after %s: %s: %w", what, s.name, err)
		}
	}
	return same, false, nil
}

// sameState compares memory and globals with the original's. Tables are seen
// through functions of the modules themselves.
func (d *differential) sameState(s *subject) error {
	if d.original.module == nil {
		return nil
	}
	if d.memory {
		if at, same := sameMemory(d.original.module.Memory(), s.module.Memory()); !same {
			return fmt.Errorf("memories differ from byte %#x on", at)
		}
	}
	for name, index := range d.globals {
		original, other := d.original.module.ExportedGlobal(name), s.module.ExportedGlobal(name)
		if other == nil {
			return fmt.Errorf("global %s is not exported", name)
		}
		if err := sameGlobal(name, original, other); err != nil {
			return err
		}
		// What the pre-pass exports besides, where the module sets the global.
		reserved := prepass.GlobalPrefix + strconv.Itoa(index)
		if other := s.module.ExportedGlobal(reserved); other != nil {
			if err := sameGlobal(reserved, original, other); err != nil {
				return err
			}
		}
	}
	return nil
}

func sameGlobal(name string, original, other api.Global) error {
	types := []api.ValueType{original.Type()}
	want, got := normal([]uint64{original.Get()}, types), normal([]uint64{other.Get()}, types)
	if want[0] != got[0] {
		return fmt.Errorf("global %s is %#x, original %#x", name, got[0], want[0])
	}
	return nil
}

func sameMemory(a, b api.Memory) (at int, same bool) {
	x, _ := a.Read(0, a.Size())
	y, _ := b.Read(0, b.Size())
	if bytes.Equal(x, y) {
		return 0, true
	}
	n := min(len(x), len(y))
	for at < n && x[at] == y[at] {
		at++
	}
	return at, false
}

// stopped reports whether the module was held to a bound.
func (o outcome) stopped() bool { return o.class == outOfFuel || o.class == exhausted }
