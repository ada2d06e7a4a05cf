package runnertest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// ToolName is the name of every guest's tool.
const ToolName = "Fixture"

// Limits are those that guests have unless a test says otherwise.
var Limits = plugins.Limits{
	Memory:          4 << 20,
	Time:            300 * time.Millisecond,
	Output:          1 << 20,
	LogLines:        100,
	CapabilityCalls: 1000,
}

// slack is how much longer than its limit a call may take to be stopped.
const slack = time.Second

// guest is a loaded guest.
type guest struct {
	plugins.Instance
	suite *Suite
	tool  abi.Tool
}

// Call runs the guest's tool. What the guest was told of a capability call's
// failure is the call's.
func (g *guest) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	result, err := g.Instance.Call(ctx, inv)
	if err == nil && g.suite.Told != nil {
		err = g.suite.Told(result)
	}
	return result, err
}

// invocation is a call to the guest.
func (g *guest) invocation(input string) plugins.Invocation {
	return plugins.Invocation{Tool: &g.tool, ID: "toolu_1", Cwd: "/", Input: json.RawMessage(input)}
}

// asking is a call to the guest, whose capability calls are done by do.
func (g *guest) asking(do plugins.CapabilityFunc) plugins.Invocation {
	inv := g.invocation("{}")
	inv.Capability = do
	return inv
}

func toolOf(export string) abi.Tool { return abi.Tool{Name: ToolName, Export: export} }

// Module describes a module to a runner. Its tool is the export of that name,
// where the ABI has tools as exports.
func Module(abiName, export string, wasm []byte, change ...func(*plugins.Module)) plugins.Module {
	m := plugins.Module{
		Manifest: &abi.Manifest{Name: "fixture", ABI: abiName, Tools: []abi.Tool{toolOf(export)}},
		Hash:     sha256.Sum256(wasm),
		Wasm:     wasm,
		Limits:   Limits,
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func (s *Suite) module(tb testing.TB, r plugins.Runner, name string, change ...func(*plugins.Module)) plugins.Module {
	tb.Helper()
	return Module(r.ABI(), name, s.Guest(tb, name), change...)
}

// Load loads a module for the length of a test.
func Load(tb testing.TB, r plugins.Runner, m plugins.Module) plugins.Instance {
	tb.Helper()
	in, err := r.Load(tb.Context(), m)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return in
}

func (s *Suite) runner(tb testing.TB) plugins.Runner {
	tb.Helper()
	r := s.New(tb)
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// load loads a guest in a runner of its own, for the length of a test.
func (s *Suite) load(tb testing.TB, name string, change ...func(*plugins.Module)) *guest {
	tb.Helper()
	return s.loadInto(tb, s.runner(tb), name, change...)
}

func (s *Suite) loadInto(tb testing.TB, r plugins.Runner, name string, change ...func(*plugins.Module)) *guest {
	tb.Helper()
	return &guest{Load(tb, r, s.module(tb, r, name, change...)), s, toolOf(name)}
}

// open loads a guest that the test closes.
func (s *Suite) open(tb testing.TB, r plugins.Runner, name string, change ...func(*plugins.Module)) *guest {
	tb.Helper()
	in, err := r.Load(tb.Context(), s.module(tb, r, name, change...))
	if err != nil {
		tb.Fatal(err)
	}
	return &guest{in, s, toolOf(name)}
}

func kept(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }

// patient gives a guest time that no busy machine uses up.
func patient(m *plugins.Module) { m.Limits.Time = testenv.Patience }
