package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/permissions/audit"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/scheduler"
)

// forUser are the options that a user's settings come to.
func forUser(t *testing.T, text string) (host.Options, config.Dirs) {
	t.Helper()
	dir := t.TempDir()
	dirs := config.Dirs{Home: dir, Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state"), Cache: filepath.Join(dir, "cache")}
	if err := os.Mkdir(dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dirs.Settings(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := config.UserSettings(dirs, config.Project{})
	sources.SystemDir = ""
	loaded, err := settings.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	o, err := config.ForUser(dirs, config.Project{}, loaded)
	if err != nil {
		t.Fatal(err)
	}
	return o, dirs
}

func TestTablesOfSettings(t *testing.T) {
	t.Parallel()
	o, dirs := forUser(t, `
[results]
max_chars = 100
max_turn_chars = "unlimited"
strategy = "both"
duplicates = true
tools.Bash = { max_chars = "unlimited", strategy = "end" }
[scheduler]
mode = "batch"
max_concurrent = 2
max_calls = 3
max_per_plugin = 4
cascade = "off"
[tools]
preset = "minimal"
defer = "always"
defer_over_tools = 5
defer_over_chars = 6
[sessions]
directory = "~/kept"
keep = "3d"
[tasks]
kind = "todo"
`)
	if !o.Model.Todos {
		t.Error("todos are not kept")
	}
	if want := (results.Options{
		MaxChars: 100, MaxTurnChars: results.Unlimited, Strategy: results.StrategyBoth, Duplicates: true,
		Tools: map[string]results.ToolOptions{"Bash": {MaxChars: results.Unlimited, Strategy: results.StrategyEnd}},
	}); !reflect.DeepEqual(o.Results, want) {
		t.Errorf("results %+v, want %+v", o.Results, want)
	}
	if !o.Limits.PlainBatches || o.Limits.MaxConcurrent != 2 || o.Limits.MaxCalls != 3 || o.Limits.MaxPerPlugin != 4 || o.Limits.Cascade != scheduler.CascadeOff {
		t.Errorf("scheduler %t, %d, %d, %d, %v", o.Limits.PlainBatches, o.Limits.MaxConcurrent, o.Limits.MaxCalls, o.Limits.MaxPerPlugin, o.Limits.Cascade)
	}
	if want := (host.ToolsetOptions{
		Only: []string{"Bash", "Read", "Edit"}, Defer: host.DeferAlways, DeferOverTools: 5, DeferOverChars: 6,
	}); !reflect.DeepEqual(o.Model.Toolset, want) {
		t.Errorf("offer %+v, want %+v", o.Model.Toolset, want)
	}
	kept := filepath.Join(dirs.Home, "kept")
	if o.Storage.Sessions != kept || o.Storage.KeepSessions != 72*time.Hour || !slices.Contains(o.Paths.Host, kept) {
		t.Errorf("sessions %q for %v, guarded %q", o.Storage.Sessions, o.Storage.KeepSessions, o.Paths.Host)
	}
}

// TestNoTables are the defaults, each of which is its option's own.
func TestNoTables(t *testing.T) {
	t.Parallel()
	o, dirs := forUser(t, "")
	if o.Limits.PlainBatches || o.Limits.MaxConcurrent != 0 || o.Limits.Cascade != scheduler.CascadeBatch || !reflect.DeepEqual(o.Model.Toolset, host.ToolsetOptions{}) ||
		o.Results.MaxChars != 0 || o.Results.Strategy != "" || o.Storage.KeepSessions != 0 {
		t.Errorf("%+v", o)
	}
	if o.Storage.Sessions != filepath.Join(dirs.State, "sessions") || o.Storage.Sessions != dirs.Sessions() {
		t.Errorf("sessions in %q", o.Storage.Sessions)
	}
	if o.Model.Todos || o.Storage.Teams != filepath.Join(dirs.State, "teams") || (config.Dirs{}).Teams() != "" {
		t.Errorf("todos %t, teams in %q", o.Model.Todos, o.Storage.Teams)
	}
	if (config.Dirs{}).Sessions() != "" {
		t.Error("a place where there is none")
	}
}

// TestUserFilesAreProtected wants everything that decides what runs later to lie in a
// directory that the host protects.
func TestUserFilesAreProtected(t *testing.T) {
	t.Parallel()
	o, dirs := forUser(t, "")
	for _, file := range []string{dirs.Compiled(), dirs.PluginGrants(), dirs.Trust(), dirs.Grants(), dirs.Settings(), dirs.Plugins()} {
		if !slices.ContainsFunc(o.Paths.Host, func(dir string) bool { return strings.HasPrefix(file, dir+string(filepath.Separator)) }) {
			t.Errorf("%s lies in none of %q", file, o.Paths.Host)
		}
	}
	if o.Plugins.GrantsFile != dirs.PluginGrants() || o.Storage.CacheDir != dirs.Compiled() {
		t.Errorf("grants are in %q, compiled plugins in %q", o.Plugins.GrantsFile, o.Storage.CacheDir)
	}
}

func TestHistorySettings(t *testing.T) {
	t.Parallel()
	if o, _ := forUser(t, ""); o.Storage.NoHistory || o.Storage.History.MaxBytes != 0 || o.Storage.History.MaxAge != 0 {
		t.Errorf("without a word: %t, %+v", o.Storage.NoHistory, o.Storage.History)
	}
	o, _ := forUser(t, "[sessions]\nhistory = false\nhistory_keep = '2d'\nhistory_max = '3MiB'\n")
	if !o.Storage.NoHistory || o.Storage.History.MaxBytes != 3<<20 || o.Storage.History.MaxAge != 48*time.Hour {
		t.Errorf("%t, %+v", o.Storage.NoHistory, o.Storage.History)
	}
}

// TestLogOptions are those of the table [log].
func TestLogOptions(t *testing.T) {
	t.Parallel()
	l := &settings.Loaded{}
	l.Log.RotateAt.Value, l.Log.RotateAfter.Value, l.Log.Keep.Value, l.Log.Max.Value = 1<<20, time.Hour, 2*time.Hour, 3<<20
	want := audit.Options{SegmentBytes: 1 << 20, SegmentAge: time.Hour, Keep: 2 * time.Hour, MaxBytes: 3 << 20}
	if got := config.LogOptions(l); got != want {
		t.Errorf("%+v", got)
	}
	if o, _ := forUser(t, "[log]\ninputs = 'full'\n"); o.Observe.DecisionInputs != audit.InputsFull {
		t.Errorf("inputs %v", o.Observe.DecisionInputs)
	}
}
