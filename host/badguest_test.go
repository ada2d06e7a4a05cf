package host_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// TestBadGuests takes every misbehaving fixture through the whole pipeline,
// beside a call to a sound tool in the same turn. Each must fail by itself, say
// why, keep within its limit and a second, and leave nothing behind.
func TestBadGuests(t *testing.T) {
	tests := map[string]struct {
		code abi.Code
		says string
	}{
		"spin":             {abi.CodeTimeout, "limit time"},
		"start_spin":       {abi.CodeTimeout, "limit time"},
		"initialize_spin":  {abi.CodeTimeout, "limit time"},
		"trap":             {abi.CodeTrap, "unreachable"},
		"trap_start":       {abi.CodeTrap, "while starting"},
		"exit_zero":        {abi.CodeTrap, "exited with code 0 before it answered"},
		"answer_outside":   {abi.CodeProtocol, "outside its memory"},
		"answer_huge":      {abi.CodeLimit, "output = 1MiB"},
		"answer_garbage":   {abi.CodeProtocol, "version"},
		"alloc_outside":    {abi.CodeProtocol, "alloc"},
		"progress_outside": {abi.CodeProtocol, "outside its memory"},
		"submit_outside":   {abi.CodeProtocol, "outside its memory"},
		"wait_unknown":     {abi.CodeProtocol, "never made"},
		"submit_at_start":  {abi.CodeProtocol, "start function"},
		"memory_4gib":      {abi.CodeLoad, "4294967296 bytes of memory"},
		"no_exports":       {abi.CodeLoad, `"memory"`},
		"wrong_exports":    {abi.CodeLoad, "exports alloc as"},
		"unknown_import":   {abi.CodeLoad, "env.system"},
		"next_version":     {abi.CodeLoad, "toolquay:host/2"},
	}
	goroutines, descriptors := runtime.NumGoroutine(), openFiles(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			limit, most := "200ms", 1200*time.Millisecond
			if test.code != abi.CodeTimeout {
				limit = "1m" // for a machine that stalls
			}
			if testenv.Race {
				most = testenv.Patience
			}
			h, err := host.Open(t.Context(), host.Options{
				Storage: host.StorageOptions{CacheDir: testenv.CompileCache()},
				Tools:   []host.NativeTool{echo("Sound")},
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, name, "limits = { time = \""+limit+"\", output = \"1MiB\" }\n"+fixtureTool+fixtureCapability)},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{&testCapability{}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close(context.Background())
			s := session(t, h, host.SessionOptions{})
			testenv.InTime(t, most, func() time.Duration {
				var results []abi.ToolResult
				took := testenv.Took(func() {
					results = s.Results(t.Context(), []abi.ToolUse{use("1", "Sound", `{"s":"a"}`), use("2", "Fixture", `{}`), use("3", "Sound", `{"s":"b"}`)})
				})
				if results[0].Text() != "a" || results[2].Text() != "b" {
					t.Errorf("the sound tool said %q and %q", results[0].Text(), results[2].Text())
				}
				wantError(t, results[1], test.code, test.says, "fixture", "<tool_use_error>")
				return took
			})
		})
	}
	settle(t, "goroutines", goroutines, runtime.NumGoroutine)
	settle(t, "open files", descriptors, func() int { return openFiles(t) })
}

// TestGuestBlockedInCapability waits in a capability that only the operator's
// limit ends.
func TestGuestBlockedInCapability(t *testing.T) {
	h := open(t, host.Options{
		Limits: host.LimitOptions{CallTimeout: 100 * time.Millisecond},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability)},
			Granted: []string{"fixture"},
		},
		Capabilities: []capability.Capability{&stuck{}},
	})
	testenv.InTime(t, 1100*time.Millisecond, func() time.Duration {
		return testenv.Took(func() {
			r, _ := one(t, session(t, h, host.SessionOptions{}), "Fixture", `{}`)
			wantError(t, r, abi.CodeTimeout, "100ms", "operator")
		})
	})
}

// stuck answers test.echo when its context ends, with that.
type stuck struct{ testCapability }

func (*stuck) Plan(context.Context, capability.Scope, abi.Request) (capability.Plan, error) {
	return stuckPlan{}, nil
}

type stuckPlan struct{ testPlan }

func (stuckPlan) Accesses() []permissions.Access { return nil }

func (stuckPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	<-ctx.Done()
	return abi.Answer{}, ctx.Err()
}

// TestManyLogLines floods the log: the call goes on, the flood does not.
func TestManyLogLines(t *testing.T) {
	h := open(t, host.Options{Plugins: host.PluginOptions{Sources: []plugins.Source{plugin(t, "log_flood", fixtureTool)}}})
	r, events := one(t, session(t, h, host.SessionOptions{}), "Fixture", `{}`)
	if r.Text() != "ok" {
		t.Fatalf("got %q", r.Text())
	}
	logs := 0
	for _, e := range events {
		if e.Kind == host.EventLog {
			logs++
		}
	}
	if logs == 0 || logs > plugins.DefaultLimits.LogLines+1 {
		t.Errorf("%d log lines passed", logs)
	}
}

// TestEscapesStayInTheResult: escaping is for whoever shows a result; the model
// gets what the tool said.
func TestEscapesStayInTheResult(t *testing.T) {
	h := open(t, host.Options{Plugins: host.PluginOptions{Sources: []plugins.Source{plugin(t, "escapes", fixtureTool)}}})
	r, _ := one(t, session(t, h, host.SessionOptions{}), "Fixture", `{}`)
	if !strings.Contains(r.Text(), "\x1b[2J") {
		t.Errorf("got %q", r.Text())
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0 // not a system that tells
	}
	return len(entries)
}

// settle waits until a count is back to what it was.
func settle(t *testing.T, what string, before int, count func() int) {
	t.Helper()
	deadline := time.Now().Add(testenv.Patience)
	for count() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if after := count(); after > before {
		t.Errorf("%s: %d before, %d after", what, before, after)
	}
}
