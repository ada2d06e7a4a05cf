package proof

import (
	"context"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
)

// stage is a lab on which a script's commands are done, one after the other.
type stage struct {
	*lab
	t      *testing.T
	script script
	named  map[string]api.Module
	last   api.Module
}

func newStage(ctx context.Context, t *testing.T, config wazero.RuntimeConfig, how treatment, s script) *stage {
	t.Helper()
	st := &stage{lab: newLab(ctx, t, config, how), t: t, script: s, named: map[string]api.Module{}}
	t.Cleanup(func() { st.close(ctx, t) })
	spectest, err := st.runtime.Instantiate(ctx, spectestModule())
	if err != nil {
		t.Fatal(err)
	}
	st.registered["spectest"] = spectest
	return st
}

// commandFuel is far more than any command of the suite uses.
const commandFuel = 1 << 40

// do does a command and returns what came of it. Modules given as text, and
// commands on a module that was refused, come to nothing.
func (s *stage) do(c command) (o outcome, done bool) {
	s.allow(commandFuel)
	switch {
	case c.ModuleType == "text":
		return outcome{}, false
	case c.Type == "register":
		if m := s.module(c.Name); m != nil {
			s.registered[c.As] = m
		}
		return outcome{}, false
	case c.Filename != "":
		m, o := s.instantiate(s.script.module(s.t, c))
		if c.Type == "module" {
			s.last = m
			s.named[c.Name] = m
		}
		return o, true
	}
	m := s.module(c.Action.Module)
	if m == nil {
		return outcome{}, false
	}
	return s.act(m, c.Action), true
}

func (s *stage) module(name string) api.Module {
	if name == "" {
		return s.last
	}
	return s.named[name]
}

func (s *stage) act(m api.Module, a action) outcome {
	if a.Type == "invoke" {
		return call(s.ctx, m, a.Field, slotsOf(a.Args))
	}
	g := m.ExportedGlobal(a.Field)
	if g == nil {
		return outcome{class: noSuchExport}
	}
	return outcome{class: returned, results: normal([]uint64{g.Get()}, []api.ValueType{g.Type()})}
}

// spectestModule is the host module that the suite's modules import.
var spectestModule = sync.OnceValue(func() []byte {
	var m wasmgen.Module
	prints := map[string][]wasmgen.ValType{
		"print":         nil,
		"print_i32":     {wasmgen.I32},
		"print_i64":     {wasmgen.I64},
		"print_f32":     {wasmgen.F32},
		"print_f64":     {wasmgen.F64},
		"print_i32_f32": {wasmgen.I32, wasmgen.F32},
		"print_f64_f64": {wasmgen.F64, wasmgen.F64},
	}
	for name, params := range prints {
		m.Export(name, wasmgen.Function, m.Func(wasmgen.Sig(params, nil), new(wasmgen.Code)))
	}
	globals := map[string]struct {
		typ  wasmgen.ValType
		init *wasmgen.Code
	}{
		"global_i32": {wasmgen.I32, new(wasmgen.Code).I32(666)},
		"global_i64": {wasmgen.I64, new(wasmgen.Code).I64(666)},
		"global_f32": {wasmgen.F32, new(wasmgen.Code).F32(0x4426a666)},
		"global_f64": {wasmgen.F64, new(wasmgen.Code).F64(0x4084d4cccccccccd)},
	}
	for name, g := range globals {
		m.Export(name, wasmgen.Global, m.Global(g.typ, false, g.init))
	}
	m.Export("table", wasmgen.Table, m.Table(wasmgen.FuncRef, wasmgen.Between(10, 20)))
	m.Export("memory", wasmgen.Memory, m.Memory(wasmgen.Between(1, 2)))
	return m.Bytes()
})
