// Package runnertest is what every runner of plugins must do, as tests: one
// suite, run over each of them, so that a plugin behaves the same wherever it
// runs.
//
// A runner brings guests, one for each behaviour, by these names:
//
//	ok               answers "ok"
//	echo             answers its input
//	counter          counts the calls that it remembers, and answers the number
//	grow             grows its memory to the end; answers one character a page
//	spin             never ends
//	start_spin       never ends in its start function
//	trap             traps
//	exit_zero        exits with code 0 in the middle of a call
//	log_flood        logs a million lines, then answers "ok"
//	pass_through     makes one capability call and answers with the answer's body,
//	                 unread where the ABI can
//	read_answer      makes one capability call, reads the whole answer and answers
//	                 with it; traps where reading fails
//	drain            makes one capability call, reads the whole answer in pieces,
//	                 keeps none of it, and answers "ok"
//	submit_flood     makes 20,000 capability calls and reads no answer
//	submit_endless   makes capability calls for ever
//	dirty            traps where its memory is not clean, makes a capability call,
//	                 and fills all its memory
//	request_at_start makes a capability call in its start function
//	assess           answers a question: read-only, and invalid with the code 7
//	assess_spin      never ends in its assess
//
// Those of the direct ABI are in the testdata of package direct, and drain here.
package runnertest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// Suite says what is tested.
type Suite struct {
	// New makes a runner as it is meant to be used. The suite closes it.
	New func(tb testing.TB) plugins.Runner
	// Guest returns the module of a behaviour, or nil where the ABI does not have
	// it: then what needs it is left out.
	Guest func(tb testing.TB, name string) []byte
	// Manifest, if not nil, completes the manifest of a guest: its ABI, its tool.
	Manifest func(m *abi.Manifest)
	// Slack is how much longer than its limit a call may take to be stopped; 0 is
	// a second, for machines that are busy.
	Slack time.Duration
}

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

//go:embed testdata/drain.wasm
var drain []byte

// Direct returns a guest of the direct ABI, for Suite.Guest of a package two
// folders below the module's plugins.
func Direct(testdata string) func(testing.TB, string) []byte {
	return func(tb testing.TB, name string) []byte {
		tb.Helper()
		if name == "drain" {
			return drain
		}
		b, err := os.ReadFile(filepath.Join(testdata, name+".wasm"))
		if err != nil {
			tb.Fatal(err)
		}
		return b
	}
}

// Run runs every test of the suite.
func Run(t *testing.T, s Suite) {
	t.Helper()
	if s.Slack == 0 {
		s.Slack = time.Second
	}
	for _, test := range tests {
		if s.has(t, test.guests) {
			t.Run(test.name, func(t *testing.T) { test.run(t, &s) })
		}
	}
}

var tests = []struct {
	name   string
	run    func(*testing.T, *Suite)
	guests string // that it cannot do without
}{
	{"echo", testEcho, "echo"},
	{"bad calls", testBadCalls, "ok"},
	{"unloadable", testUnloadable, "ok"},
	{"memory is clean", testCleanMemory, "counter"},
	{"memory limit", testMemoryLimit, "grow"},
	{"recycled memory is clean", testRecycledMemory, "dirty"},
	{"capability answers", testAnswers, "pass_through read_answer"},
	{"refused capability", testRefused, "pass_through"},
	{"panicking answers", testPanickingAnswers, "pass_through"},
	{"oversized answer", testOversized, "pass_through"},
	{"error with the last bytes", testErrorWithLastBytes, "pass_through read_answer"},
	{"large body in little memory", testLargeBody, "drain"},
	{"body that nobody reads", testUnreadBody, "submit_flood"},
	{"blocked capability", testBlockedCapability, "read_answer"},
	{"blocked body", testBlockedBody, "read_answer pass_through"},
	{"unread answers are few", testUnreadAnswers, "submit_flood"},
	{"endless capability calls", testEndlessCalls, "submit_endless"},
	{"cancelled call", testCancelled, "spin"},
	{"log flood", testLogFlood, "log_flood"},
	{"parallel calls", testParallel, "read_answer"},
	{"nested call", testNested, "pass_through"},
	{"start function serves no call", testStartServesNoCall, "pass_through request_at_start"},
	{"assess", testAssess, "assess assess_spin ok"},
	{"kept instance", testKept, "counter"},
	{"kept instance is lost on a trap", testKeptTrap, "trap"},
	{"kept instance refuses re-entry", testKeptReentry, "pass_through"},
	{"nothing leaks", testNothingLeaks, ""},
}

// has reports whether the ABI has all of the guests.
func (s *Suite) has(tb testing.TB, guests string) bool {
	tb.Helper()
	for guest := range strings.FieldsSeq(guests) {
		if s.Guest(tb, guest) == nil {
			return false
		}
	}
	return true
}

// module describes a guest to a runner.
func (s *Suite) module(wasm []byte, change ...func(*plugins.Module)) plugins.Module {
	m := plugins.Module{
		Manifest: &abi.Manifest{Name: "fixture", Tools: []abi.Tool{{Name: ToolName}}},
		Hash:     sha256.Sum256(wasm),
		Wasm:     wasm,
		Limits:   Limits,
	}
	if s.Manifest != nil {
		s.Manifest(m.Manifest)
	}
	for _, c := range change {
		c(&m)
	}
	return m
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
func (s *Suite) load(tb testing.TB, name string, change ...func(*plugins.Module)) plugins.Instance {
	tb.Helper()
	return s.loadInto(tb, s.runner(tb), name, change...)
}

func (s *Suite) loadInto(tb testing.TB, r plugins.Runner, name string, change ...func(*plugins.Module)) plugins.Instance {
	tb.Helper()
	in, err := r.Load(tb.Context(), s.module(s.Guest(tb, name), change...))
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

func kept(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }

// patient gives a guest time that no busy machine uses up.
func patient(m *plugins.Module) { m.Limits.Time = 20 * time.Second }

// invocation is a call to a guest.
func (s *Suite) invocation(input string) plugins.Invocation {
	m := s.module(nil)
	return plugins.Invocation{Tool: &m.Manifest.Tools[0], ID: "toolu_1", Cwd: "/", Input: json.RawMessage(input)}
}

func echoing(body string) plugins.CapabilityFunc {
	return func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{
			OK:   map[string]int{"n": 1},
			Body: io.NopCloser(strings.NewReader(body)),
			Size: int64(len(body)),
		}, nil
	}
}

// answering is a gate that gives every capability call the same answer.
func answering(a abi.Answer) plugins.CapabilityFunc {
	return func(context.Context, abi.Request) (abi.Answer, error) { return a, nil }
}

func wantCode(t *testing.T, err error, code abi.Code, parts ...string) {
	t.Helper()
	if err == nil || abi.CodeOf(err) != code {
		t.Fatalf("got error %v of code %s; want code %s", err, abi.CodeOf(err), code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

// inUse is the memory that the process's heap and stacks take, in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// eventually waits a while for something to become true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Error(what)
			return
		}
		time.Sleep(time.Millisecond)
	}
}
