package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

func TestTableFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"chars":             {"[results]\nmax_chars = 0\n", `f: line 2: results.max_chars: "0" is no number of characters; write one over 0, or "unlimited"`},
		"chars below":       {"[results]\nmax_turn_chars = -1\n", `f: line 2: results.max_turn_chars: "-1" is no number`},
		"chars in words":    {"[results]\nmax_chars = 'none'\n", `f: line 2: results.max_chars: "none" is no number of characters`},
		"many chars":        {"[results]\nmax_chars = 9000000000\n", "f: line 2: results.max_chars: 9000000000 is not from 1 to 1000000000"},
		"strategy":          {"[results]\nstrategy = 'middle'\n", `f: line 2: results.strategy: "middle" is not known; write one of start, end, both`},
		"tool's strategy":   {"[results.tools.Bash]\nmax_chars = 5\nstrategy = ''\n", `f: line 3: results.tools.Bash.strategy: "" is not known`},
		"tool's chars":      {"[results.tools]\nBash.max_chars = 'x'\n", `f: line 2: results.tools.Bash.max_chars: "x" is no number`},
		"tool's key":        {"[results.tools.Bash]\nmax = 5\n", "f: line 2: results.tools.Bash.max: unknown key"},
		"tool's name":       {"[results.tools.'a b']\nmax_chars = 5\n", `f: line 1: results.tools."a b": this is no name of a tool`},
		"mode":              {"[scheduler]\nmode = 'serial'\n", `f: line 2: scheduler.mode: "serial" is not known; write one of locks, batch`},
		"cascade":           {"[scheduler]\ncascade = 'all'\n", `f: line 2: scheduler.cascade: "all" is not known; write one of batch, turn, off`},
		"none at once":      {"[scheduler]\nmax_concurrent = 0\n", "f: line 2: scheduler.max_concurrent: 0 is not from 1 to 1000"},
		"many at once":      {"[scheduler]\nmax_concurrent = 1001\n", "f: line 2: scheduler.max_concurrent: 1001 is not from 1 to 1000"},
		"bounds":            {"[scheduler]\nmax_calls = -1\nmax_per_plugin = 0\n", "scheduler.max_calls: -1 is not from 1 to 1000000000\nf: line 3: scheduler.max_per_plugin: 0 is not"},
		"tasks":             {"[tasks]\nkind = 'both'\n", `f: line 2: tasks.kind: "both" is not known; write one of tasks, todo`},
		"preset":            {"[tools]\npreset = 'small'\n", `f: line 2: tools.preset: "small" is not known; write one of full, minimal`},
		"preset and only":   {"[tools]\npreset = 'full'\nonly = ['Read']\n", "f: line 3: tools.only: there is a preset too; write one of the two"},
		"no tool":           {"[tools]\nonly = []\n", "f: line 2: tools.only: it names no tool"},
		"tool's rule":       {"[tools]\nonly = ['Read', 'Bash(ls)']\n", `f: line 2: tools.only[1]: "Bash(ls)" is no name of a tool`},
		"defer":             {"[tools]\ndefer = true\n", "f: line 2: tools.defer: found the boolean true, expected a string"},
		"defer over":        {"[tools]\ndefer_over_tools = 0\ndefer_over_chars = 0\n", "f: line 2: tools.defer_over_tools: 0 is not from 1"},
		"relative sessions": {"[sessions]\ndirectory = 'sessions'\n", `f: line 2: sessions.directory: "sessions" is not an absolute path, nor one that begins with ~/`},
		"keep":              {"[sessions]\nkeep = 'ever'\n", `f: line 2: sessions.keep: "ever" is no span of time; write it as 30d, 4w or 12h`},
		"storage keep":      {"[storage]\nkeep = '0w'\n", "f: line 2: storage.keep: 0s is not over 0 and up to 87600h0m0s"},
		"storage long":      {"[storage]\nkeep = '522w'\n", "f: line 2: storage.keep: 87696h0m0s is not over 0 and up to"},
		"storage huge":      {"[storage]\nkeep = '99999999w'\n", `f: line 2: storage.keep: "99999999w" is no span of time`},
		"storage back":      {"[storage]\nkeep = '-1d'\n", "f: line 2: storage.keep: -24h0m0s is not over 0"},
		"storage max":       {"[storage]\nmax = '1KiB'\n", "f: line 2: storage.max: 1KiB is not from 1MiB to 1024GiB"},
		"storage key":       {"[storage]\nmaximum = '1GiB'\n", "f: line 2: storage.maximum: unknown key"},
		"log inputs":        {"[log]\ninputs = 'all'\n", `f: line 2: log.inputs: "all" is not known; write one of hash, redacted, full`},
		"log rotate":        {"[log]\nrotate_at = '1KiB'\nrotate_after = '0d'\n", "f: line 2: log.rotate_at: 1KiB is not from 16KiB to 1GiB\nf: line 3: log.rotate_after: 0s is not over 0"},
		"log kept":          {"[log]\nkeep = \"\\u0007\"\nmax = '-1'\n", `f: line 2: log.keep: "\a" is no span of time`},
		"keep none":         {"[sessions]\nkeep = '0d'\n", "f: line 2: sessions.keep: 0s is not over 0 and up to 87600h0m0s"},
		"keep long":         {"[sessions]\nkeep = '30000d'\n", "f: line 2: sessions.keep: 720000h0m0s is not over 0"},
		"keep longer":       {"[sessions]\nkeep = '300000d'\n", `f: line 2: sessions.keep: "300000d" is no span of time`},
		"history":           {"[sessions]\nhistory = 'off'\n", "f: line 2: sessions.history: found the string \"off\", expected a boolean"},
		"history keep":      {"[sessions]\nhistory_keep = '0d'\n", "f: line 2: sessions.history_keep: 0s is not over 0 and up to 87600h0m0s"},
		"history max":       {"[sessions]\nhistory_max = '1KiB'\n", "f: line 2: sessions.history_max: 1KiB is not from 1MiB to 1024GiB"},
		"history except":    {"[sessions]\nhistory_except = ['a/b']\n", `f: line 2: sessions.history_except[0]: "a/b" is not the name of a directory: write a name without slashes, such as node_modules`},
		"history in words":  {"[sessions]\nhistory_max = 'much'\n", `f: line 2: sessions.history_max: "much" is not a size; write it as 512KiB, 64MiB or 1GiB`},
		"endpoint":          {"[telemetry]\nendpoint = 'localhost:4318'\n", "f: line 2: telemetry.endpoint: it is no URL such as http://localhost:4318"},
		"endpoint's user":   {"[telemetry]\nendpoint = 'https://u:hush@example.com'\n", "f: line 2: telemetry.endpoint: it has a user"},
		"secret in clear":   {"[telemetry]\nendpoint = 'http://example.com'\nheaders.A = 'B'\n", "f: line 2: telemetry.endpoint: it sends the headers in the clear"},
		"secret itself":     {"[telemetry]\nendpoint = 'https://example.com'\nheaders.A = 'Bearer hush'\n", "f: line 3: telemetry.headers.A: this is no name of an environment variable; name the variable that holds the header's value"},
		"header's name":     {"[telemetry]\nendpoint = 'https://example.com'\nheaders.'A B' = 'C'\n", `f: line 3: telemetry.headers."A B": this is no name of an HTTP header`},
		"headers alone":     {"[telemetry]\nheaders.A = 'B'\n", "f: line 2: telemetry.headers: they are for the endpoint beside them"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := settings.Parse(user, "f", []byte(tt.text))
			if err == nil || f != nil {
				t.Fatalf("no error: %+v", f)
			}
			if got := err.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "hush") {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestProjectsHaveNoSayInSessionsAndTelemetry(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"sessions.keep = '1d'\n", "storage.keep = '1d'\n", "log.keep = '1d'\n", "telemetry.content = true\n"} {
		table, _, _ := strings.Cut(text, ".")
		want := "f: line 1: " + table + ": a project has no say in this"
		if _, err := settings.Parse(project, "f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestTablesAreMergedByKey: each key is the weightiest file's that has it, and what
// belongs together comes from one file.
func TestTablesAreMergedByKey(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, systemFile, "[scheduler]\nmax_concurrent = 3\n[telemetry]\nendpoint = 'https://policy.example.com'\n[storage]\nmax = '1GiB'\n[log]\nkeep = '52w'\n")
	p.options.CommandLine = &settings.File{Scheduler: settings.Scheduler{
		Mode: settings.Key[string]{Value: settings.ByBatch, Set: true}, MaxConcurrent: settings.Key[int]{Value: 50, Set: true},
	}}
	p.write(t, projectFile, "[tools]\nonly = ['Read']\n[results]\nmax_chars = 100\n[results.tools.Bash]\nmax_chars = 7\n")
	p.write(t, userFile, "[scheduler]\nmode = 'locks'\nmax_concurrent = 9\ncascade = 'off'\n"+
		"[tools]\npreset = 'minimal'\ndefer = 'never'\n"+
		"[results]\nmax_chars = 200\nstrategy = 'end'\n[results.tools.Bash]\nmax_chars = 8\nstrategy = 'both'\n[results.tools.Grep]\nmax_chars = 'unlimited'\n"+
		"[sessions]\ndirectory = '~/kept'\nkeep = '2d'\nhistory = false\nhistory_max = '2GiB'\n[storage]\nkeep = '2w'\nmax = '3GiB'\n[log]\ninputs = 'full'\nkeep = '1d'\n"+
		"[telemetry]\nendpoint = 'https://user.example.com'\nheaders.A = 'B'\ncontent = true\n")
	p.trust(t)
	l := p.load(t)
	if s := l.Scheduler; s.Mode.Value != settings.ByBatch || s.MaxConcurrent.Value != 3 || s.Cascade.Value != settings.CascadeOff || s.MaxCalls.Set {
		t.Errorf("scheduler %+v", s)
	}
	if v := l.Tools; v.Preset.Set || !slices.Equal(v.Only.Value, []string{"Read"}) || v.Defer.Value != settings.DeferNever {
		t.Errorf("tools %+v", v)
	}
	bash := l.Results.Tools["Bash"]
	if r := l.Results; r.MaxChars.Value != 100 || r.Strategy.Value != settings.PreviewEnd || bash.MaxChars.Value != 7 ||
		bash.Strategy.Value != settings.PreviewBoth || r.Tools["Grep"].MaxChars.Value != settings.Unlimited {
		t.Errorf("results %+v", r)
	}
	if s := l.Sessions; s.Directory.Value != p.path("home/kept") || s.Keep.Value != 48*time.Hour ||
		!s.History.Set || s.History.Value || s.HistoryKeep.Set || s.HistoryMax.Value != 2<<30 {
		t.Errorf("sessions %+v", s)
	}
	if s := l.Storage; s.Keep.Value != 14*24*time.Hour || s.Max.Value != 1<<30 {
		t.Errorf("storage %+v", s)
	}
	if s := l.Log; s.Inputs.Value != settings.LogFull || s.Keep.Value != 364*24*time.Hour || s.Max.Set {
		t.Errorf("log %+v", s)
	}
	if v := l.Telemetry; v.Endpoint.Value != "https://policy.example.com" || v.Headers.Set || !v.Content.Value {
		t.Errorf("the headers of one endpoint go to another: %+v", v)
	}
}

// TestTablesOfAnUntrustedProjectAreLeftOut: they wait for trust, and those who are
// asked for it see them.
func TestTablesOfAnUntrustedProjectAreLeftOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, projectFile, "[scheduler]\nmax_concurrent = 1000\n[results]\nmax_chars = 'unlimited'\ntools.Bash.strategy = 'end'\n[tools]\nonly = ['Bash']\n[tasks]\nkind = 'todo'\n")
	l := p.load(t)
	if l.Tasks.Kind.Set || l.Scheduler.MaxConcurrent.Set || l.Results.MaxChars.Set || len(l.Results.Tools) > 0 || l.Tools.Only.Set {
		t.Errorf("counted: %+v %+v %+v", l.Scheduler, l.Results, l.Tools)
	}
	settings := []string{
		"results.max_chars = unlimited", "results.tools.Bash.strategy = end", "scheduler.max_concurrent = 1000", "tools.only = [Bash]",
		"tasks.kind = todo",
	}
	var brings []string
	for _, b := range l.Brings {
		brings = append(brings, b.Kind+" "+b.Text)
	}
	for _, s := range settings {
		if !slices.Contains(brings, "setting "+s) {
			t.Errorf("%s: not told in %q", s, brings)
		}
	}
	if warned := p.warnings(l); !strings.Contains(warned, ": 5 settings left out: the project is not trusted;") {
		t.Errorf("warned:\n%s", warned)
	}
}

// TestMade shows each setting of the tables that counts, whose it is, and no value of
// a secret.
func TestMade(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(t, systemFile, "[results]\nmax_chars = 5\n[telemetry]\nendpoint = 'https://example.com'\nheaders = { B = 'TWO', A = 'ONE' }\n")
	p.write(t, userFile, `
[results]
max_chars = 6
max_turn_chars = "unlimited"
strategy = "both"
duplicates = true
tools.Bash = { max_chars = 7, strategy = "end" }
[scheduler]
mode = "batch"
max_concurrent = 2
max_calls = 3
max_per_plugin = 4
cascade = "off"
[tools]
only = ["Read", "Grep"]
defer = "always"
defer_over_tools = 5
defer_over_chars = 6
[sessions]
directory = "/a\u001b"
keep = "3d"
history = false
history_keep = "4d"
history_max = "5MiB"
[storage]
keep = "1w"
max = "6MiB"
[log]
inputs = "full"
rotate_at = "64KiB"
rotate_after = "1d"
keep = "2d"
max = "7MiB"
[telemetry]
content = true
[tasks]
kind = "todo"
`)
	var got []string
	for _, m := range p.load(t).Made() {
		got = append(got, fmt.Sprintf("%s %d", m.Text, m.Source.Line))
		if policy := strings.HasPrefix(m.Text, "telemetry.") && m.Text != "telemetry.content = true" || m.Text == "results.max_chars = 5"; policy != (m.Source.Kind == permissions.SourcePolicy) ||
			!strings.HasSuffix(m.String(), fmt.Sprintf(":%d)", m.Source.Line)) {
			t.Errorf("whose is it: %s", m)
		}
	}
	want := []string{
		"results.max_chars = 5 2", "results.max_turn_chars = unlimited 4", "results.strategy = both 5", "results.duplicates = true 6",
		"results.tools.Bash.max_chars = 7 7", "results.tools.Bash.strategy = end 7",
		"scheduler.mode = batch 9", "scheduler.max_concurrent = 2 10", "scheduler.max_calls = 3 11", "scheduler.max_per_plugin = 4 12", "scheduler.cascade = off 13",
		"tools.only = [Read Grep] 15", "tools.defer = always 16", "tools.defer_over_tools = 5 17", "tools.defer_over_chars = 6 18", "tasks.kind = todo 37",
		`"sessions.directory = /a\x1b" 20`, "sessions.keep = 72h0m0s 21",
		"sessions.history = false 22", "sessions.history_keep = 96h0m0s 23", "sessions.history_max = 5MiB 24",
		"storage.keep = 168h0m0s 26", "storage.max = 6MiB 27",
		"log.inputs = full 29", "log.rotate_at = 64KiB 30", "log.rotate_after = 24h0m0s 31", "log.keep = 48h0m0s 32", "log.max = 7MiB 33",
		"telemetry.endpoint = https://example.com 4", "telemetry.headers.A = ONE 5", "telemetry.headers.B = TWO 5", "telemetry.content = true 35",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
