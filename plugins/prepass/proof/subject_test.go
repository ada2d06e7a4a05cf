package proof

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// subject is a module that takes part in a comparison.
type subject struct {
	*lab
	name     string
	compiled wazero.CompiledModule
	module   api.Module
}

// start instantiates the subject's module.
func (s *subject) start(wasm []byte) outcome {
	if err := s.imports(wasm); err != nil {
		return outcome{class: unlinkable, err: err}
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	var err error
	s.module, err = s.runtime.InstantiateModule(ctx, s.compiled, bare)
	return outcome{class: classOf(err), err: err}
}

func (s *subject) invoke(name string, args []uint64) outcome {
	if budget, ok := s.module.ExportedGlobal(wasmgen.BudgetGlobal).(api.MutableGlobal); ok {
		budget.Set(wasmgen.Budget)
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	return call(ctx, s.module, name, args)
}

// imports provides what the module imports: functions that answer with a digest
// of their arguments, and the module of the specification's tests.
func (s *subject) imports(wasm []byte) error {
	if bytes.Contains(wasm, []byte("spectest")) {
		m, err := s.runtime.InstantiateWithConfig(s.ctx, spectestModule(), bare)
		if err != nil {
			return err
		}
		s.registered["spectest"] = m
	}
	builders := map[string]wazero.HostModuleBuilder{}
	for _, f := range s.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if module == prepass.ImportModule || s.registered[module] != nil {
			continue
		}
		if builders[module] == nil {
			builders[module] = s.runtime.NewHostModuleBuilder(module)
		}
		do := api.GoModuleFunction(digest(name, f))
		if module == wasmgen.HostModule && name == wasmgen.Reenter {
			do = api.GoModuleFunc(reenter)
		}
		builders[module].NewFunctionBuilder().
			WithGoModuleFunction(do, f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, b := range builders {
		if _, err := b.Instantiate(s.ctx); err != nil {
			return err
		}
	}
	return nil
}

// digest is a function whose results, numbers all of them, tell its arguments.
func digest(name string, f api.FunctionDefinition) api.GoModuleFunc {
	return func(_ context.Context, _ api.Module, stack []uint64) {
		sum := fnv.New64a()
		fmt.Fprint(sum, name, normal(stack[:slotCount(f.ParamTypes())], f.ParamTypes()))
		for i := range slotCount(f.ResultTypes()) {
			stack[i] = sum.Sum64() + uint64(i)
		}
		at := 0
		for _, t := range f.ResultTypes() {
			switch t {
			case api.ValueTypeI32, api.ValueTypeF32:
				// The upper half must be clear: wazero takes an i32 from the
				// host as an index of a table without looking at less than
				// all of it, and reads outside of it otherwise.
				stack[at] = uint64(uint32(stack[at]))
			case valueTypeFuncref:
				stack[at] = 0
			case valueTypeV128:
				at++
			}
			at++
		}
	}
}

// reenter calls f0 of the module that calls it, with a parameter for all
// arguments, and hides from it whether that trapped.
func reenter(ctx context.Context, m api.Module, stack []uint64) {
	// What wazero hands over has as little above the 32nd bit to rely on; see
	// digest for what it would do with it.
	stack[0] = uint64(uint32(stack[0]))
	f := m.ExportedFunction("f0")
	if f == nil {
		return
	}
	args := make([]uint64, slotCount(f.Definition().ParamTypes()))
	if !slices.Contains(f.Definition().ParamTypes(), valueTypeFuncref) {
		for i := range args {
			args[i] = uint64(uint32(stack[0]))
		}
	}
	_, err := f.Call(ctx, args...)
	if (outcome{class: classOf(err)}).stopped() {
		panic(err) // how deep a module gets is not its own affair
	}
	if err != nil {
		stack[0] = 1
	}
}

func slotCount(types []api.ValueType) int {
	n := len(types)
	for _, t := range types {
		if t == valueTypeV128 {
			n++
		}
	}
	return n
}

// patience is how long a call of the original may take. It is not begun unless
// the rewritten module has ended by itself, so more is a difference.
const patience = 20 * time.Second

// arguments chooses arguments that are likely to matter.
func arguments(random *rand.Rand, types []api.ValueType) []uint64 {
	args := []uint64{}
	for _, t := range types {
		switch t {
		case valueTypeV128:
			args = append(args, random.Uint64(), random.Uint64())
		case valueTypeFuncref:
			args = append(args, 0)
		case api.ValueTypeExternref:
			args = append(args, random.Uint64N(3))
		case api.ValueTypeI32, api.ValueTypeF32:
			args = append(args, uint64(uint32(number(random))))
		default:
			args = append(args, number(random))
		}
	}
	return args
}

func number(random *rand.Rand) uint64 {
	switch random.IntN(4) {
	case 0:
		return uint64(random.IntN(10))
	case 1:
		return -random.Uint64N(10)
	case 2:
		return 1<<random.IntN(64) - random.Uint64N(2)
	default:
		return random.Uint64()
	}
}
