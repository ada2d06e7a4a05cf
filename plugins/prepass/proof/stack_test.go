package proof

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// testStack is the stack budget of the tests below.
const testStack = 4 << 20

// TestStackIsBounded recurses without end in functions with frames of many
// shapes. The native stack must stay within the budget: the pre-pass estimates
// frames, and an estimate that is too low would show here.
//
// The stack is measured by what is allocated while it grows. It doubles as it
// grows, so all stacks together take up to four times the last one's use.
func TestStackIsBounded(t *testing.T) {
	if engines()[0].name != compiler.name {
		return // the interpreter bounds its own
	}
	for name, build := range frames() {
		t.Run(name, func(t *testing.T) {
			var m wasmgen.Module
			build(&m)
			rewritten, err := prepass.Rewrite(m.Bytes(), prepass.Options{MaxStack: testStack})
			if err != nil {
				t.Fatal(err)
			}
			l := newLab(t.Context(), t, wazero.NewRuntimeConfigCompiler(), treatments[1])
			defer l.close(t.Context(), t)
			instance, err := l.runtime.InstantiateWithConfig(l.ctx, rewritten.Wasm, bare)
			if err != nil {
				t.Fatal(err)
			}
			l.allow(commandFuel)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			o := call(l.ctx, instance, "run", nil)
			runtime.ReadMemStats(&after)
			if o.class != exhausted {
				t.Errorf("the recursion ended: %s", o)
			}
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("allocated %d KiB, %.2f of the budget", allocated>>10, float64(allocated)/testStack)
			if allocated > 4*testStack+testStack/4 {
				t.Errorf("allocated %d KiB for a stack of %d KiB", allocated>>10, testStack>>10)
			}
		})
	}
}

// frames are modules whose function run recurses without end.
func frames() map[string]func(m *wasmgen.Module) {
	many := func(t wasmgen.ValType, n int) []wasmgen.ValType {
		return slices.Repeat([]wasmgen.ValType{t}, n)
	}
	shapes := map[string]func(m *wasmgen.Module){
		"nothing": func(m *wasmgen.Module) {
			f := m.Declare(wasmgen.FuncType{})
			m.Define(f, new(wasmgen.Code).Call(f).Call(f))
			m.Export("run", wasmgen.Function, f)
		},
		"mutual": func(m *wasmgen.Module) {
			f, g := m.Declare(wasmgen.FuncType{}), m.Declare(wasmgen.FuncType{})
			m.Define(f, new(wasmgen.Code).Call(g).Call(g))
			m.Define(g, new(wasmgen.Code).Call(f).Call(f))
			m.Export("run", wasmgen.Function, f)
		},
		"through a table": func(m *wasmgen.Module) {
			typ := m.Type(wasmgen.FuncType{})
			table := m.Table(wasmgen.FuncRef, wasmgen.AtLeast(1))
			f := m.Func(wasmgen.FuncType{}, new(wasmgen.Code).I32(0).CallIndirect(typ, table).I32(0).CallIndirect(typ, table))
			m.Elem(table, new(wasmgen.Code).I32(0), f)
			m.Export("run", wasmgen.Function, f)
		},
	}
	for name, t := range map[string]wasmgen.ValType{"i32": wasmgen.I32, "i64": wasmgen.I64, "f64": wasmgen.F64, "v128": wasmgen.V128} {
		shapes["parameters "+name] = recursion(many(t, 60), nil, 0)
		shapes["results "+name] = recursion(nil, many(t, 60), 0)
		shapes["both "+name] = recursion(many(t, 40), many(t, 40), 0)
		shapes["one parameter held "+name] = recursion(many(t, 1), nil, 1)
		shapes["live "+name] = recursion(many(t, 8), many(t, 1), 300)
	}
	for _, n := range []int{1, 50, 200} {
		shapes["ladder of "+strconv.Itoa(n)] = ladder(200, n)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 24 {
		params, results := mixed(random, 1+random.IntN(100)), mixed(random, random.IntN(100))
		shapes["mixed "+strconv.Itoa(i)] = recursion(params, results, random.IntN(100))
	}
	return shapes
}

func mixed(random *rand.Rand, n int) []wasmgen.ValType {
	out := make([]wasmgen.ValType, n)
	for i := range out {
		out[i] = []wasmgen.ValType{wasmgen.I32, wasmgen.I64, wasmgen.F64, wasmgen.V128}[random.IntN(4)]
	}
	return out
}

// recursion is a function that calls itself with its parameters and keeps a
// number of values made of them on the stack meanwhile.
func recursion(params, results []wasmgen.ValType, live int) func(m *wasmgen.Module) {
	return func(m *wasmgen.Module) {
		t := wasmgen.Sig(params, results)
		f := m.Declare(t)
		var c wasmgen.Code
		for i := range live {
			p := uint32(i % len(params))
			// Each is different, so that all must be kept.
			c.LocalGet(p)
			mix(&c, params[p], i)
		}
		for i := range params {
			c.LocalGet(uint32(i))
		}
		c.Call(f)
		locals := make([]wasmgen.Locals, len(results))
		for i, r := range slices.Backward(results) {
			locals[i] = wasmgen.Locals{Count: 1, Type: r}
			c.LocalSet(uint32(len(params) + i))
		}
		for i := range live {
			p := params[(live-1-i)%len(params)]
			c.GlobalSet(m.Global(p, true, zero(p)))
		}
		for i := range results {
			c.LocalGet(uint32(len(params) + i))
		}
		m.Define(f, &c, locals...)
		m.Export("run", wasmgen.Function, m.Func(wasmgen.FuncType{}, callWithZeros(f, t)))
	}
}

// ladder is a function that calls itself behind a number of nested blocks, each
// of which many locals leave with another of two values: where they end, every
// local has a value of its own once more.
func ladder(locals, rungs int) func(m *wasmgen.Module) {
	return func(m *wasmgen.Module) {
		f := m.Declare(wasmgen.Sig([]wasmgen.ValType{wasmgen.I64}, nil))
		g := m.Global(wasmgen.I64, true, zero(wasmgen.I64))
		var c wasmgen.Code
		set := func(base int) {
			for i := range locals {
				c.LocalGet(0).I64(int64(base + i)).Op(wasmgen.I64Add).LocalSet(uint32(1 + i))
			}
		}
		for range rungs {
			c.Block(wasmgen.NoResult)
		}
		set(1)
		for k := range rungs {
			c.GlobalGet(g).I64(int64(k + 1000)).Op(wasmgen.Opcode(0x51)).BrIf(uint32(k))
		}
		set(100_000)
		for range rungs {
			c.End()
		}
		c.LocalGet(0).Call(f)
		for i := range locals {
			c.LocalGet(uint32(1 + i)).GlobalSet(g)
		}
		c.LocalGet(0).Call(f)
		m.Define(f, &c, wasmgen.Locals{Count: uint32(locals), Type: wasmgen.I64})
		m.Export("run", wasmgen.Function, m.Func(wasmgen.FuncType{}, new(wasmgen.Code).I64(3).Call(f)))
	}
}

// callWithZeros calls a function and drops its results.
func callWithZeros(f uint32, t wasmgen.FuncType) *wasmgen.Code {
	var c wasmgen.Code
	for _, p := range t.Params {
		c.Append(zero(p))
	}
	c.Call(f)
	for range t.Results {
		c.Op(wasmgen.Drop)
	}
	return &c
}

// mix makes another value of the one on the stack.
func mix(c *wasmgen.Code, t wasmgen.ValType, i int) {
	switch t {
	case wasmgen.I32:
		c.I32(int32(i + 2)).Op(wasmgen.I32Mul)
	case wasmgen.I64:
		c.I64(int64(i + 2)).Op(wasmgen.I64Add)
	case wasmgen.F64:
		c.F64(uint64(i+2) << 50).Op(0xa0)
	default:
		c.V128(uint64(i), 7).Op(0xfd<<16 + 81)
	}
}

func zero(t wasmgen.ValType) *wasmgen.Code {
	var c wasmgen.Code
	switch t {
	case wasmgen.I32:
		c.I32(0)
	case wasmgen.I64:
		c.I64(0)
	case wasmgen.F64:
		c.F64(0)
	default:
		c.V128(0, 0)
	}
	return &c
}
