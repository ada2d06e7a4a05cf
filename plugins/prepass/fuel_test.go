package prepass_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/prepass"
)

// fib calls itself twice, without any loop.
func fib(m *wasmgen.Module) {
	f := m.Declare(wasmgen.Sig([]wasmgen.ValType{wasmgen.I32}, []wasmgen.ValType{wasmgen.I32}))
	m.Define(f, new(wasmgen.Code).LocalGet(0).I32(2).Op(wasmgen.I32LtS).If(wasmgen.Result(wasmgen.I32)).LocalGet(0).Else().
		LocalGet(0).I32(1).Op(wasmgen.I32Sub).Call(f).LocalGet(0).I32(2).Op(wasmgen.I32Sub).Call(f).Op(wasmgen.I32Add).End())
	m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).I32(60).Call(f).Op(wasmgen.Drop)))
}

// tree is a chain of functions that do something and call the next one twice each:
// 2^60 calls without a recursion.
func tree(first *wasmgen.Code) func(m *wasmgen.Module) {
	return func(m *wasmgen.Module) {
		f := m.Func(nothing, new(wasmgen.Code))
		for range 60 {
			f = m.Func(nothing, new(wasmgen.Code).Append(first).Call(f).Call(f))
		}
		m.Export("run", wasmgen.Function, f)
	}
}

// lines are straight lines of bulk operations over a memory of 64 MiB.
func lines(op func(c *wasmgen.Code) *wasmgen.Code) func(m *wasmgen.Module) {
	return func(m *wasmgen.Module) {
		m.Memory(wasmgen.AtLeast(1024))
		var c wasmgen.Code
		for range 2000 {
			op(&c)
		}
		m.Export("run", wasmgen.Function, m.Func(nothing, &c))
	}
}

// endless are modules whose function run does not end in a lifetime.
var endless = map[string]func(m *wasmgen.Module){
	"loop": func(m *wasmgen.Module) {
		m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).Loop(wasmgen.NoResult).Br(0).End()))
	},
	"loop with a parameter": func(m *wasmgen.Module) {
		t := m.Type(wasmgen.Sig([]wasmgen.ValType{wasmgen.I32}, nil))
		m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).I32(1).Loop(wasmgen.TypeIndex(t)).Br(0).End()))
	},
	"nested loops": func(m *wasmgen.Module) {
		m.Export("run", wasmgen.Function, m.Func(nothing, nested(50, loop).Loop(wasmgen.NoResult).Br(0).End()))
	},
	"br_table to the loop": func(m *wasmgen.Module) {
		m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).Loop(wasmgen.NoResult).I32(7).BrTable(0, 1, 0).End()))
	},
	"calls of a small function": func(m *wasmgen.Module) {
		f := m.Func(nothing, new(wasmgen.Code))
		m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).Loop(wasmgen.NoResult).Call(f).Br(0).End()))
	},
	"tail call of itself": func(m *wasmgen.Module) {
		f := m.Declare(nothing)
		m.Define(f, new(wasmgen.Code).Raw(0x12).U32(f))
		m.Export("run", wasmgen.Function, f)
	},
	"tail calls through a table": func(m *wasmgen.Module) {
		t, table := m.Type(nothing), m.Table(wasmgen.FuncRef, wasmgen.AtLeast(1))
		f := m.Func(nothing, new(wasmgen.Code).I32(0).Raw(0x13).U32(t).U32(table))
		m.Elem(table, new(wasmgen.Code).I32(0), f)
		m.Export("run", wasmgen.Function, f)
	},
	"fib 60":                 fib,
	"call tree":              tree(new(wasmgen.Code)),
	"call tree past loops":   tree(new(wasmgen.Code).I32(0).If(wasmgen.NoResult).Loop(wasmgen.NoResult).End().End()),
	"call tree around loops": tree(new(wasmgen.Code).Block(wasmgen.NoResult).I32(1).BrIf(0).Loop(wasmgen.NoResult).End().End()),
	"call tree with loops":   tree(new(wasmgen.Code).Loop(wasmgen.NoResult).End()),
	"memory.fill": lines(func(c *wasmgen.Code) *wasmgen.Code {
		return c.I32(0).I32(1).I32(64 << 20).MemoryFill()
	}),
	"memory.copy forwards": lines(func(c *wasmgen.Code) *wasmgen.Code {
		return c.I32(0).I32(8).I32(64<<20 - 8).MemoryCopy()
	}),
	"memory.copy backwards": lines(func(c *wasmgen.Code) *wasmgen.Code {
		return c.I32(8).I32(0).I32(64<<20 - 8).MemoryCopy()
	}),
}

// TestFuelStops holds that a module that never ends asks for fuel, again and
// again, and soon.
func TestFuelStops(t *testing.T) {
	for name, build := range endless {
		t.Run(name, func(t *testing.T) {
			var m wasmgen.Module
			build(&m)
			rewritten := rewrite(t, m.Bytes(), prepass.Options{})
			// It is a few milliseconds.
			testenv.InTime(t, time.Second, func() time.Duration { return longestGap(t, rewritten.Wasm) })
		})
	}
}

// longestGap is the longest time between two of the first refills of a module that
// never ends, which is then stopped.
func longestGap(t *testing.T, wasm []byte) time.Duration {
	t.Helper()
	const refills = 20
	var last time.Time
	var worst time.Duration
	count := often(refills)
	instance := instantiate(t, wasm, wazero.NewRuntimeConfig(), func(m api.Module, left int64) {
		if !last.IsZero() {
			worst = max(worst, time.Since(last))
		}
		count(m, left)
		last = time.Now()
	})
	if _, err := instance.ExportedFunction("run").Call(context.Background()); !errors.Is(err, errStopped) {
		t.Fatalf("ended with %v", err)
	}
	t.Logf("at most %v between two refills", worst)
	return worst
}

// TestRationsOfOne holds that a module gets on, and ends, however little fuel it is
// handed at a time.
func TestRationsOfOne(t *testing.T) {
	const turns = 50
	// A turn is heavier than what a function has in hand.
	heavy := func() *wasmgen.Code {
		c := new(wasmgen.Code).Loop(wasmgen.NoResult)
		for range 400 {
			c.LocalGet(0).I32(1).Op(wasmgen.I32Add).LocalSet(0)
			c.LocalGet(0).I32(1).Op(wasmgen.I32Sub).LocalSet(0)
		}
		return c.LocalGet(0).I32(1).Op(wasmgen.I32Add).LocalTee(0).I32(turns).Op(wasmgen.I32LtU).BrIf(0).End()
	}
	shapes := map[string]*wasmgen.Code{
		"one loop":  heavy(),
		"two loops": heavy().I32(0).LocalSet(0).Append(heavy()),
	}
	for name, c := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := exported(nothing, c, wasmgen.Locals{Count: 1, Type: wasmgen.I32})
			refills := 0
			instance := instantiateWith(t, rewrite(t, m.Bytes(), prepass.Options{}).Wasm, wazero.NewRuntimeConfig(), 1, func(api.Module, int64) {
				if refills++; refills > 10_000 {
					panic(errStopped)
				}
			})
			if _, err := instance.ExportedFunction("run").Call(context.Background()); err != nil {
				t.Error(err)
			}
			if refills < 5 {
				t.Errorf("%d refills", refills)
			}
		})
	}
}

// TestStackStops holds that recursion to the bottom is told from other traps.
func TestStackStops(t *testing.T) {
	shapes := map[string]func(m *wasmgen.Module){
		"itself": func(m *wasmgen.Module) {
			f := m.Declare(nothing)
			m.Define(f, new(wasmgen.Code).Call(f).Call(f))
			m.Export("run", wasmgen.Function, f)
		},
		"another": func(m *wasmgen.Module) {
			f, g := m.Declare(nothing), m.Declare(nothing)
			m.Define(f, new(wasmgen.Code).Call(g).Call(g))
			m.Define(g, new(wasmgen.Code).Call(f).Call(f))
			m.Export("run", wasmgen.Function, f)
		},
		"through a table": func(m *wasmgen.Module) {
			typ, table := m.Type(nothing), m.Table(wasmgen.FuncRef, wasmgen.AtLeast(1))
			f := m.Func(nothing, new(wasmgen.Code).I32(0).CallIndirect(typ, table).I32(0).CallIndirect(typ, table))
			m.Elem(table, new(wasmgen.Code).I32(0), f)
			m.Export("run", wasmgen.Function, f)
		},
	}
	for name, build := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m wasmgen.Module
			build(&m)
			exhausted := false
			instance := instantiate(t, rewrite(t, m.Bytes(), prepass.Options{}).Wasm, wazero.NewRuntimeConfig(), func(_ api.Module, left int64) {
				exhausted = exhausted || left == prepass.StackExhausted
			})
			if _, err := instance.ExportedFunction("run").Call(context.Background()); err == nil || !exhausted {
				t.Errorf("ended with %v, having said that its stack is used up: %t", err, exhausted)
			}
		})
	}
}

// TestFuelInHand holds that a module cannot hoard fuel: it buys what it can at
// every level of calls, comes back to the top, and counts how long it can run
// then without asking for more.
func TestFuelInHand(t *testing.T) {
	// What may be in hand is one quantum, and 3 Mi.
	const most = (quantum + 3<<20) / turnWeight
	const depth = 80_000
	// One loop alone would pay for each turn; with two, functions pay in advance.
	hoard := func() *wasmgen.Code {
		return new(wasmgen.Code).Loop(wasmgen.NoResult).End().Loop(wasmgen.NoResult).End()
	}
	shapes := map[string]func(m *wasmgen.Module){
		"recursion": func(m *wasmgen.Module) {
			turns := m.Global(wasmgen.I64, true, new(wasmgen.Code).I64(0))
			m.Export("turns", wasmgen.Global, turns)
			f := m.Declare(wasmgen.Sig([]wasmgen.ValType{wasmgen.I32}, nil))
			m.Define(f, hoard().
				LocalGet(0).If(wasmgen.NoResult).LocalGet(0).I32(1).Op(wasmgen.I32Sub).Call(f).End())
			m.Export("run", wasmgen.Function, m.Func(nothing, spin(new(wasmgen.Code).I32(depth).Call(f), turns)))
		},
		"chain": func(m *wasmgen.Module) {
			turns := m.Global(wasmgen.I64, true, new(wasmgen.Code).I64(0))
			m.Export("turns", wasmgen.Global, turns)
			f := m.Func(nothing, new(wasmgen.Code))
			for range 5000 {
				f = m.Func(nothing, hoard().Call(f))
			}
			m.Export("run", wasmgen.Function, m.Func(nothing, spin(new(wasmgen.Code).Call(f), turns)))
		},
	}
	for name, build := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m wasmgen.Module
			build(&m)
			var last, worst uint64
			instance := instantiate(t, rewrite(t, m.Bytes(), prepass.Options{}).Wasm, wazero.NewRuntimeConfig(), func(m api.Module, left int64) {
				if left == prepass.StackExhausted {
					t.Error("the stack is used up: the test needs less depth")
				}
				turns := m.ExportedGlobal("turns").Get()
				worst = max(worst, turns-last)
				if last = turns; turns > 10*most {
					panic(errStopped)
				}
			})
			_, err := instance.ExportedFunction("run").Call(context.Background())
			if !errors.Is(err, errStopped) {
				t.Fatalf("ended with %v", err)
			}
			t.Logf("at most %d turns between two refills", worst)
			if worst > most {
				t.Errorf("%d turns between two refills", worst)
			}
		})
	}
}

// turnWeight is the least that a turn of spin weighs: three instructions and a
// branch.
const turnWeight = 4

// spin appends an endless loop that counts its turns in a global.
func spin(c *wasmgen.Code, turns uint32) *wasmgen.Code {
	return c.Loop(wasmgen.NoResult).GlobalGet(turns).I64(1).Op(wasmgen.I64Add).GlobalSet(turns).Br(0).End()
}

// TestRefillIsNoWayRound holds that a module that asks for fuel itself gets none.
func TestRefillIsNoWayRound(t *testing.T) {
	t.Parallel()
	var m wasmgen.Module
	f := m.ImportFunc(prepass.ImportModule, prepass.ImportRefill, wasmgen.Sig([]wasmgen.ValType{wasmgen.I64}, []wasmgen.ValType{wasmgen.I64}))
	m.Export("run", wasmgen.Function, m.Func(nothing, new(wasmgen.Code).I64(math.MaxInt64).Call(f).Op(wasmgen.Drop).Loop(wasmgen.NoResult).Br(0).End()))
	instance := instantiate(t, rewrite(t, m.Bytes(), prepass.Options{}).Wasm, wazero.NewRuntimeConfig(), often(5))
	if _, err := instance.ExportedFunction("run").Call(context.Background()); !errors.Is(err, errStopped) {
		t.Errorf("ended with %v", err)
	}
}

// TestOutOfReach holds that modules whose code names what the rewriting adds, or
// would if indices were taken as they are, are refused.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	cases := map[string]*wasmgen.Code{
		"global.set of the fuel":   new(wasmgen.Code).I64(math.MaxInt64).GlobalSet(0),
		"global.get of the fuel":   new(wasmgen.Code).GlobalGet(0).Op(wasmgen.Drop),
		"local.set of the counter": new(wasmgen.Code).I32(math.MaxInt32).LocalSet(0).Loop(wasmgen.NoResult).Br(0).End(),
		"call of a helper":         new(wasmgen.Code).Call(1),
		"ref.func of a helper":     new(wasmgen.Code).RefFunc(1).Op(wasmgen.Drop),
		"branch past the function": new(wasmgen.Code).Br(1),
		"type of a helper":         new(wasmgen.Code).I32(0).CallIndirect(1, 0),
		"block type of a helper":   new(wasmgen.Code).Block(wasmgen.TypeIndex(1)).End(),
		"code after the end":       new(wasmgen.Code).End().Op(wasmgen.Nop),
		"else without an if":       new(wasmgen.Code).Block(wasmgen.NoResult).Else().End(),
		"no end":                   new(wasmgen.Code).Block(wasmgen.NoResult),
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := prepass.Rewrite(exported(nothing, c).Bytes(), prepass.Options{})
			var refused *prepass.Error
			if !errors.As(err, &refused) || refused.Section != "code" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func ExampleError() {
	_, err := prepass.Rewrite([]byte("\x00asm\x0d\x00\x01\x00"), prepass.Options{})
	fmt.Println(err)
	// Output: wasm module, offset 0x4: the component model: this is a component, not a module, which is not supported
}
