package settings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// loadText loads a user's file, and a command line that says how calls are scheduled, if any.
func loadText(t *testing.T, user, mode string) (*settings.Loaded, settings.Target) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(path, []byte(user), 0o600); err != nil {
		t.Fatal(err)
	}
	o := settings.Options{UserFile: path}
	if mode != "" {
		by := permissions.Source{Kind: permissions.SourceCommandLine}
		o.CommandLine = &settings.File{Scheduler: settings.Scheduler{Mode: settings.Key[string]{Value: mode, Set: true, Source: by}}}
	}
	loaded, err := settings.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return loaded, settings.Target{Kind: permissions.SourceUser, Path: path}
}

const allOpen = `
[scheduler]
mode = "batch"
max_concurrent = 2
max_calls = 3
max_per_plugin = 4
cascade = "off"
[results]
max_chars = "unlimited"
max_turn_chars = 5
strategy = "both"
duplicates = true
[results.tools.Grep]
max_chars = 6
strategy = "end"
[shell]
default_timeout = 7
max_timeout = "8m"
budget = "9s"
at_limit = "kill"
[tools]
only = ["Read", "Glob"]
defer = "always"
defer_over_tools = 10
defer_over_chars = 11
`

// TestOpenSettings reads each open setting, and sets it to what it is read as.
func TestOpenSettings(t *testing.T) {
	t.Parallel()
	loaded, target := loadText(t, allOpen, "")
	want := map[string]string{
		"scheduler.mode": `"batch"`, "scheduler.max_concurrent": "2", "scheduler.max_calls": "3", "scheduler.max_per_plugin": "4",
		"scheduler.cascade": `"off"`, "results.max_chars": `"unlimited"`, "results.max_turn_chars": "5", "results.strategy": `"both"`,
		"results.duplicates": "true", "results.tools.Grep.max_chars": "6", "results.tools.Grep.strategy": `"end"`,
		"shell.default_timeout": `"7s"`, "shell.max_timeout": `"8m0s"`, "shell.budget": `"9s"`, "shell.at_limit": `"kill"`,
		"tools.only": `"Read, Glob"`, "tools.defer": `"always"`, "tools.defer_over_tools": "10", "tools.defer_over_chars": "11",
	}
	for name, value := range want {
		got, err := loaded.Get(name)
		if err != nil || string(got.Value) != value || got.Source.File != target.Path || got.Source.Line == 0 {
			t.Errorf("%s is %s (%s), %v; want %s", name, got.Value, got.Source, err, value)
			continue
		}
		if err := loaded.CheckSet(name, got.Value); err != nil {
			t.Errorf("%s = %s: %v", name, value, err)
		}
		if err := settings.Set(target, name, got.Value); err != nil {
			t.Errorf("%s = %s: %v", name, value, err)
		}
	}
	for _, name := range settings.OpenSettings() {
		name = strings.Replace(name, "NAME", "Grep", 1)
		if _, ok := want[name]; !ok && name != "tools.preset" {
			t.Errorf("%s is not tested", name)
		}
		empty, _ := loadText(t, "", "")
		if got, err := empty.Get(name); err != nil || got.Value != nil || got.Source.File != "" {
			t.Errorf("%s is %s, %v; nobody set it", name, got.Value, err)
		}
	}
}

// TestSetsThatAreRefused say why by their code, and change nothing.
func TestSetsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		user, mode, name, value string
		code                    abi.Code
		says                    string
	}{
		{"", "", "permissions.mode", `"bypassPermissions"`, abi.CodeDisabled, "it may let calls do more, or let data out"},
		{"", "", "permissions.deny", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "hooks.PreToolUse", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "sandbox", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "sandbox.network", `"all"`, abi.CodeDisabled, "not open"},
		{"", "", "shell.environment", `"SECRET"`, abi.CodeDisabled, "not open"},
		{"", "", "shell.bash", `"/tmp/x"`, abi.CodeDisabled, "not open"},
		{"", "", "shell.max_output", `"1GiB"`, abi.CodeDisabled, "not open"},
		{"", "", "telemetry.endpoint", `"http://x"`, abi.CodeDisabled, "not open"},
		{"", "", "telemetry.headers.X", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "network.proxy", `"http://x"`, abi.CodeDisabled, "not open"},
		{"", "", "judge.base_url", `"http://x"`, abi.CodeDisabled, "not open"},
		{"", "", "approvals.always_to", `"user"`, abi.CodeDisabled, "not open"},
		{"", "", "log.required", `false`, abi.CodeDisabled, "not open"},
		{"", "", "sessions.keep", `"1h"`, abi.CodeDisabled, "not open"},
		{"", "", "credentials.store", `"file"`, abi.CodeDisabled, "not open"},
		{"", "", "plugins.isolation", `"sandbox"`, abi.CodeDisabled, "not open"},
		{"", "", "plugins.x.y.z", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "mcp.x.url", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "tools.also", `"Config"`, abi.CodeDisabled, "it may turn tools on"},
		{"", "", "tools", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "results.tools", `"x"`, abi.CodeDisabled, "not open"},
		{"", "", "scheduler.modes", `"batch"`, abi.CodeNotFound, `did you mean "scheduler.mode"?`},
		{"", "", "mode", `"batch"`, abi.CodeNotFound, "there are results.duplicates, "},
		{"", "", "", `"batch"`, abi.CodeNotFound, "there are results.duplicates, "},
		{"", "", "\x1b[31m\n", `"batch"`, abi.CodeNotFound, `\x1b[31m`},
		{"", "", strings.Repeat("a.", 100_000), `"batch"`, abi.CodeNotFound, "there is no setting"},
		{"", "", "results.tools.a b.max_chars", `1`, abi.CodeNotFound, "there is no setting"},
		{"", "", "results.tools.Grep.limit", `1`, abi.CodeNotFound, "there is no setting"},
		{"", "", "scheduler.mode", `"fast"`, abi.CodeInvalidInput, "write one of locks, batch"},
		{"", "", "scheduler.mode", `"` + strings.Repeat("x", 100_000) + `"`, abi.CodeInvalidInput, "write one of locks, batch"},
		{"", "", "scheduler.mode", `"a\u0000\"\nb"`, abi.CodeInvalidInput, "write one of locks, batch"},
		{"", "", "scheduler.max_concurrent", `1001`, abi.CodeInvalidInput, "1001 is not from 1 to 1000"},
		{"", "", "scheduler.max_concurrent", `1.5`, abi.CodeInvalidInput, "expected an integer"},
		{"", "", "scheduler.max_concurrent", `1e400`, abi.CodeInvalidInput, "scheduler.max_concurrent"},
		{"", "", "scheduler.max_concurrent", `99999999999999999999`, abi.CodeInvalidInput, "scheduler.max_concurrent"},
		{"", "", "scheduler.max_concurrent", `-1`, abi.CodeInvalidInput, "-1 is not from 1"},
		{"", "", "scheduler.max_concurrent", `true`, abi.CodeInvalidInput, "expected an integer"},
		{"", "", "scheduler.max_concurrent", `null`, abi.CodeInvalidInput, "no string, number or boolean"},
		{"", "", "scheduler.max_concurrent", `[1]`, abi.CodeInvalidInput, "no string, number or boolean"},
		{"", "", "results.max_chars", `"all"`, abi.CodeInvalidInput, "is no number of characters"},
		{"", "", "shell.max_timeout", `"25h"`, abi.CodeInvalidInput, "up to 24h"},
		{"", "", "tools.only", `3`, abi.CodeInvalidInput, "names of tools with commas"},
		{"", "", "tools.only", `"Bash(ls)"`, abi.CodeInvalidInput, "is no name of a tool"},
		{"", "", "tools.only", `" , "`, abi.CodeInvalidInput, "it names no tool"},
		{"[tools]\nonly = ['Read']\n", "", "tools.only", `"Read, Bash"`, abi.CodeDisabled, "may only take tools away, and there are Read now"},
		{"[tools]\nonly = ['Read']\n", "", "tools.preset", `"minimal"`, abi.CodeDisabled, "may only take tools away"},
		{"[tools]\npreset = 'minimal'\n", "", "tools.preset", `"full"`, abi.CodeDisabled, "may only take tools away, and there are Bash, Read, Edit now"},
		{"[scheduler]\nmode = 'batch'\n", "locks", "scheduler.mode", `"batch"`, abi.CodeDisabled, "is fixed by the command line"},
	} {
		loaded, target := loadText(t, test.user, test.mode)
		err := loaded.CheckSet(test.name, json.RawMessage(test.value))
		if abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) || strings.ContainsAny(err.Error(), "\x1b\x00") || len(err.Error()) > 2000 {
			t.Errorf("%.60s = %.60s: got %.300v of code %s; want %s, %q", test.name, test.value, err, abi.CodeOf(err), test.code, test.says)
		}
		if got, err := os.ReadFile(target.Path); err != nil || string(got) != test.user {
			t.Errorf("%.60s: the file is %q, %v", test.name, got, err)
		}
	}
}

// TestTheChoiceOfToolsIsFixedAsOne refuses either setting by which tools are chosen where the
// project has the other: what is set would not count.
func TestTheChoiceOfToolsIsFixedAsOne(t *testing.T) {
	t.Parallel()
	loaded, _ := loadText(t, "", "")
	loaded.Tools.Only = settings.Key[[]string]{Value: []string{"Bash", "Read", "Edit", "Config"}, Set: true, Source: permissions.Source{Kind: permissions.SourceProject}}
	for name, value := range map[string]string{"tools.only": `"Read"`, "tools.preset": `"minimal"`} {
		if err := loaded.CheckSet(name, json.RawMessage(value)); abi.CodeOf(err) != abi.CodeDisabled || !strings.Contains(err.Error(), "tools.only is fixed by the project") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSet puts values into files of every layout, and keeps all else.
func TestSet(t *testing.T) {
	t.Parallel()
	const mode, strategy = "scheduler.mode", "results.tools.Grep.strategy"
	for name, test := range map[string]struct{ before, key, after string }{
		"empty":              {"", mode, "[scheduler]\nmode = \"batch\"\n"},
		"other tables":       {"# a\n[tools] # b\ndefer = 'never' # c\n", mode, "# a\n[tools] # b\ndefer = 'never' # c\n\n[scheduler]\nmode = \"batch\"\n"},
		"no newline":         {"[scheduler]\nmax_calls = 1 # x", mode, "[scheduler]\nmax_calls = 1 # x\nmode = \"batch\"\n"},
		"replaced":           {"[scheduler]\nmode = 'locks'  # why\nmax_calls = 1\n", mode, "[scheduler]\nmode = \"batch\"  # why\nmax_calls = 1\n"},
		"the same":           {"[scheduler]\nmode = \"batch\" # why\n", mode, "[scheduler]\nmode = \"batch\" # why\n"},
		"dotted":             {"scheduler.max_calls = 1 # x\n[tools]\n", mode, "scheduler.max_calls = 1 # x\nscheduler.mode = \"batch\"\n[tools]\n"},
		"inline":             {"scheduler = { max_calls = 1 } # x\n", mode, "scheduler = { max_calls = 1, mode = \"batch\" } # x\n"},
		"CRLF":               {"[scheduler]\r\nmax_calls = 1\r\n", mode, "[scheduler]\r\nmax_calls = 1\r\nmode = \"batch\"\r\n"},
		"indented":           {"  [scheduler]\n  max_calls = 1\n", mode, "  [scheduler]\n  max_calls = 1\n  mode = \"batch\"\n"},
		"byte order mark":    {"\xef\xbb\xbf[scheduler]\n", mode, "\xef\xbb\xbf[scheduler]\nmode = \"batch\"\n"},
		"three deep":         {"[results]\nstrategy = 'end'\n", strategy, "[results]\nstrategy = 'end'\n\n[results.tools.Grep]\nstrategy = \"batch\"\n"},
		"three deep, dotted": {"[results]\ntools.Grep.max_chars = 5\n", strategy, "[results]\ntools.Grep.max_chars = 5\ntools.Grep.strategy = \"batch\"\n"},
		"three deep, inline": {"[results]\ntools = { Bash = { max_chars = 5 } }\n", strategy, "[results]\ntools = { Bash = { max_chars = 5 }, Grep = { strategy = \"batch\" } }\n"},
		"beside another":     {"[results.tools.Bash]\nmax_chars = 5 # x\n", strategy, "[results.tools.Bash]\nmax_chars = 5 # x\n\n[results.tools.Grep]\nstrategy = \"batch\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, target := loadText(t, test.before, "")
			value := `"batch"`
			if test.key == strategy {
				value = `"both"`
			}
			if err := settings.Set(target, test.key, json.RawMessage(value)); err != nil {
				t.Fatal(err)
			}
			want := test.after
			if test.key == strategy {
				want = strings.Replace(want, `"batch"`, `"both"`, 1)
			}
			if got, err := os.ReadFile(target.Path); err != nil || string(got) != want {
				t.Errorf("got\n%s%v\nwant\n%s", got, err, want)
			}
		})
	}
}

// TestSetsThatDoNotFitTheFile leave it as it is: beside what else it says, or as it cannot be
// read or reached.
func TestSetsThatDoNotFitTheFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, key, value, says string }{
		"less than the default": {"[shell]\ndefault_timeout = '5m'\n", "shell.max_timeout", `"1m"`, "it is less than the default of 5m0s"},
		"a preset too":          {"[tools]\npreset = 'minimal'\n", "tools.only", `"Read"`, "there is a preset too"},
		"broken":                {"[tools\n", "scheduler.mode", `"batch"`, "mend it first"},
		"more tools by now":     {"[tools]\nonly = ['Read']\n", "tools.only", `"Read, Bash"`, "may only take tools away"},
	} {
		path := filepath.Join(t.TempDir(), "settings.toml")
		if err := os.WriteFile(path, []byte(test.before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := settings.Set(settings.Target{Kind: permissions.SourceUser, Path: path}, test.key, json.RawMessage(test.value))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %q", name, err, test.says)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != test.before {
			t.Errorf("%s: the file is %q, %v", name, got, err)
		}
	}
	for _, target := range []settings.Target{
		{Kind: permissions.SourceUser, Path: "/x/settings.json"}, {Kind: permissions.SourceProject, Path: "/x/settings.toml", Root: "/x"},
		{Kind: permissions.SourcePolicy, Path: "/x/settings.toml"}, {Kind: permissions.SourceUser, Path: "settings.toml"},
	} {
		if err := settings.Set(target, "scheduler.mode", json.RawMessage(`"batch"`)); err == nil {
			t.Errorf("%+v was set", target)
		}
	}
}
