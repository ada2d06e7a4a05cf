package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestCheck refuses options whose faults would only show later, all of them at once.
func TestCheck(t *testing.T) {
	t.Parallel()
	missing := func(what string) error { return errors.New(what + " is missing") }
	fine := machine{
		supervises: func([]string) error { return nil },
		works:      func() error { return nil },
		shell:      func(string, string) error { return nil },
		sandbox:    func() error { return nil },
	}
	bare := machine{
		supervises: func([]string) error { return missing("main") },
		works:      func() error { return worker.ErrNotReady },
		shell:      func(name, _ string) error { return missing(name) },
		sandbox:    func() error { return missing("bubblewrap") },
	}
	powerShell := fine
	powerShell.shell = func(name, _ string) error {
		if name == "bash" {
			return missing(name)
		}
		return nil
	}
	noShell := fine
	noShell.shell, noShell.sandbox = bare.shell, bare.sandbox
	isolated := worker.New("direct", worker.Options{})
	for name, test := range map[string]struct {
		options Options
		machine machine
		want    []string // one line each
	}{
		"nothing":             {Options{}, bare, nil},
		"a shell":             {Options{Shell: &Shell{}, Plugins: PluginOptions{Workers: true, Isolate: true}}, fine, nil},
		"another runner":      {Options{Plugins: PluginOptions{Isolate: true, Isolated: []plugins.Runner{isolated}}}, bare, nil},
		"no main":             {Options{Shell: &Shell{Optional: true}}, bare, []string{"Options.Shell: main is missing; call host.Main first"}},
		"no workers":          {Options{Plugins: PluginOptions{Workers: true}}, bare, []string{"Options.Plugins.Workers: worker.Main was not called", "call host.Main first"}},
		"nothing isolates":    {Options{Plugins: PluginOptions{Isolate: true}}, fine, []string{"Options.Plugins.Isolate: nothing can isolate plugins; set Options.Plugins.Workers"}},
		"PowerShell will do":  {Options{Shell: &Shell{}}, powerShell, nil},
		"no named bash":       {Options{Shell: &Shell{Bash: "/x"}}, powerShell, []string{"Shell.Bash: bash is missing; install it"}},
		"no shell":            {Options{Shell: &Shell{}}, noShell, []string{"Shell.Bash: bash is missing; install it, or set Shell.Optional"}},
		"no named PowerShell": {Options{Shell: &Shell{PowerShell: "/x"}}, noShell, []string{"Shell.Bash: ", "Shell.PowerShell: powershell is missing"}},
		"no sandbox":          {Options{Shell: &Shell{Sandbox: SandboxOptions{Mode: SandboxRequired}}}, noShell, []string{"Shell.Bash: ", "Shell.Sandbox.Mode: a sandbox is required: bubblewrap is missing; install it"}},
		"optional":            {Options{Shell: &Shell{Sandbox: SandboxOptions{Mode: SandboxRequired}, Bash: "/x", Optional: true}}, noShell, nil},
		"unknown values": {Options{Limits: LimitOptions{Cascade: 7}, Shell: &Shell{Sandbox: SandboxOptions{Mode: "on", Network: "some"}, Time: CommandTime{AtLimit: "wait"}}}, fine, []string{
			"Options.Limits.Cascade: 7 is unknown", `Shell.Sandbox.Mode: "on" is unknown; write one of `, `Shell.Sandbox.Network: "some"`, `Shell.Time.AtLimit: "wait"`,
		}},
		"relative paths": {Options{Storage: StorageOptions{Sessions: "sessions"}, Shell: &Shell{Sandbox: SandboxOptions{State: "state"}, Supervisor: []string{"/no/such"}}}, fine, []string{
			`Options.Storage.Sessions: "sessions" is not an absolute path`, "Shell.Supervisor: stat /no/such: no such file", `Shell.Sandbox.State: "state" is not`,
		}},
		"negative limits": {Options{
			Limits: LimitOptions{MaxConcurrent: -1, MaxCalls: -1, MaxPerPlugin: -1, MaxHeldResults: -1, CallTimeout: -1, ScanTimeout: -1}, Storage: StorageOptions{
				KeepSessions: -1, Keep: -1, Max: -1,
				History: HistoryOptions{MaxBytes: -1, MaxAge: -1},
			}, Permissions: PermissionOptions{Judge: JudgeOptions{MaxTokens: -1}},
			Shell: &Shell{MaxOutput: -1, Time: CommandTime{Default: -1, Max: -1, Budget: -1}, MaxBackground: -1},
		}, fine, []string{
			"Options.Limits.MaxConcurrent: -1 is negative; 0 is the default", "Options.Limits.MaxCalls: ", "Options.Limits.MaxPerPlugin: ", "Options.Limits.MaxHeldResults: ",
			"Options.Storage.History: -1 is", "Options.Storage.Max: -1 is", "Options.Limits.CallTimeout: -1ns is", "Options.Limits.ScanTimeout: ", "Options.Storage.KeepSessions: ", "Options.Storage.Keep: ", "Options.Storage.History: -1ns is",
			"Options.Permissions.Judge: a limit is negative", "Shell.MaxOutput: ", "Shell.Time.Default: ", "Shell.Time.Max: ", "Shell.Time.Budget: ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.options.check(&test.machine)
			if err == nil {
				if len(test.want) > 0 {
					t.Fatalf("no fault; want %q", test.want)
				}
				return
			}
			rest := err.Error()
			for _, want := range test.want {
				before, after, found := strings.Cut(rest, want)
				if !found || strings.Contains(before, "\n") && !strings.HasSuffix(before, "\n") {
					t.Fatalf("%v\nwant %q", err, test.want)
				}
				rest = after
			}
			if strings.Contains(rest, "\n") || len(test.want) == 0 {
				t.Errorf("more faults than wanted: %v", err)
			}
		})
	}
}

// TestThisMachine holds the real checks to what they stand for.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	if err := thisMachine.supervises([]string{"/some/program"}); err != nil {
		t.Error(err)
	}
	if err := thisMachine.works(); !errors.Is(err, worker.ErrNotReady) {
		t.Errorf("this program did not call worker.Main, and the check says %v", err)
	}
	if err := thisMachine.shell("bash", "/no/such/bash"); err == nil || !strings.Contains(err.Error(), "/no/such/bash") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.Context(), Options{Plugins: PluginOptions{Workers: true}, Storage: StorageOptions{Sessions: "here"}}); err == nil || !strings.Contains(err.Error(), "Options.Plugins.Workers") || !strings.Contains(err.Error(), "Options.Storage.Sessions") {
		t.Errorf("got %v", err)
	}
	if err := process.Startable(nil); err != nil {
		t.Errorf("TestMain calls process.Main, and the check says %v", err)
	}
}
