package config_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// ownOf are the settings of a user's file.
func ownOf(t *testing.T, text string) (*config.Own, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadOwn(t, path), path
}

func loadOwn(t *testing.T, path string) *config.Own {
	t.Helper()
	sources := settings.Options{UserFile: path}
	loaded, err := settings.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	return config.NewOwn(sources, loaded)
}

func set(t *testing.T, own *config.Own, name, value string) (before, now string) {
	t.Helper()
	was, is, err := own.Set(t.Context(), name, json.RawMessage(value))
	if err != nil {
		t.Fatalf("%s = %s: %v", name, value, err)
	}
	return string(was.Value), string(is.Value)
}

// TestOwnCountsAtOnce puts into force what was set, and what was found changed, in order.
func TestOwnCountsAtOnce(t *testing.T) {
	t.Parallel()
	own, path := ownOf(t, "# mine\n[scheduler]\nmode = 'locks'\n")
	var applied []string
	own.Applies(func(l *settings.Loaded) error {
		applied = append(applied, l.Scheduler.Mode.Value)
		return nil
	})
	if before, now := set(t, own, "scheduler.mode", `"batch"`); before != `"locks"` || now != `"batch"` {
		t.Errorf("it was %s and is %s", before, now)
	}
	if got, err := own.Get("scheduler.mode"); err != nil || string(got.Value) != `"batch"` || !strings.Contains(got.Source, path) {
		t.Errorf("it reads as %+v, %v", got, err)
	}
	stale, err := settings.Load(settings.Options{UserFile: path})
	if err != nil {
		t.Fatal(err)
	}
	set(t, own, "scheduler.mode", `"locks"`)
	// What was loaded before comes too late.
	if err := own.Take(stale); err != nil || !slices.Equal(applied, []string{"batch", "locks"}) {
		t.Errorf("applied %q, %v", applied, err)
	}
	fresh, err := settings.Load(settings.Options{UserFile: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Take(fresh); err != nil || !slices.Equal(applied, []string{"batch", "locks", "locks"}) {
		t.Errorf("applied %q, %v", applied, err)
	}
}

// TestOwnFailures say whether the file was changed.
func TestOwnFailures(t *testing.T) {
	t.Parallel()
	const text = "[scheduler]\nmode = 'locks' # x\n"
	own, path := ownOf(t, text)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := own.Set(ended, "scheduler.mode", json.RawMessage(`"batch"`)); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("cancelled: %v", err)
	}
	for name, code := range map[string]abi.Code{"sandbox.mode": abi.CodeDisabled, "x": abi.CodeNotFound, "scheduler.mode": abi.CodeInvalidInput} {
		_, _, err := own.Set(t.Context(), name, json.RawMessage(`"off"`))
		if check := own.Check(name, json.RawMessage(`"off"`)); abi.CodeOf(err) != code || abi.CodeOf(check) != code {
			t.Errorf("%s: %v, checked %v; want the code %s", name, err, check, code)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file is %q, %v", got, err)
	}
	own.Applies(func(*settings.Loaded) error { return errors.New("no") })
	_, _, err := own.Set(t.Context(), "scheduler.mode", json.RawMessage(`"batch"`))
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "is set in "+path+" and does not count yet: no") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("[scheduler\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := own.Set(t.Context(), "scheduler.mode", json.RawMessage(`"batch"`)); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "scheduler.mode was not set: the settings cannot be read") {
		t.Errorf("broken: %v", err)
	}
}

// TestOwnFiles makes a file that is missing for its owner alone, changes the target of a link,
// and says where nothing can be written.
func TestOwnFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "new", "settings.toml")
	set(t, loadOwn(t, missing), "scheduler.max_calls", "5")
	if info, err := os.Stat(missing); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the new file: %v, %v", info, err)
	}
	link := filepath.Join(dir, "link.toml")
	if runtime.GOOS != "windows" { // where links need a right
		if err := os.Symlink(missing, link); err != nil {
			t.Fatal(err)
		}
		set(t, loadOwn(t, link), "scheduler.max_calls", "6")
		if got, err := os.ReadFile(missing); err != nil || !strings.Contains(string(got), "max_calls = 6") {
			t.Errorf("the link's target is %q, %v", got, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is %v, %v", info, err)
		}
	}
	if runtime.GOOS == "linux" { // where nobody, not even root, makes a file
		_, _, err := loadOwn(t, "/sys/kernel/settings.toml").Set(t.Context(), "scheduler.max_calls", json.RawMessage("5"))
		if abi.CodeOf(err) != abi.CodeIO || !strings.HasPrefix(err.Error(), "scheduler.max_calls was not set: ") {
			t.Errorf("read-only: %v", err)
		}
	}
	if config.NewOwn(settings.Options{}, &settings.Loaded{}) != nil {
		t.Error("there are settings without a file")
	}
}

// TestConfigAtAHost sets what counts for the sessions of a host that are open.
func TestConfigAtAHost(t *testing.T) {
	t.Parallel()
	own, path := ownOf(t, "")
	var told []string
	h, err := host.Open(t.Context(), host.Options{
		Builtins: true, Settings: own, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Also: []string{"Config"}}},
		Observe: host.ObserveOptions{Events: func(e host.Event) {
			if e.Kind == host.EventTools {
				told = append(told, e.Tools.Removed...)
			}
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	own.Applies(func(l *settings.Loaded) error {
		tuning, err := config.TuningOf(config.Dirs{}, l, nil)
		if err != nil {
			return err
		}
		tuning.Toolset.Also = []string{"Config"}
		return h.Apply(host.Settings{Tuning: &tuning})
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(strings.Repeat("0123456789\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewSession(host.SessionOptions{ID: "s", Cwd: dir, Mode: permissions.ModeBypass})
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool, input string) abi.ToolResult {
		return s.Results(t.Context(), []abi.ToolUse{{ID: "1", Name: tool, Input: json.RawMessage(input)}})[0]
	}
	for _, set := range []string{
		`{"setting":"results.tools.Read.max_chars","value":200}`, `{"setting":"scheduler.mode","value":"batch"}`,
		`{"setting":"tools.only","value":"Read, Glob"}`,
	} {
		if r := call("Config", set); r.IsError {
			t.Fatalf("%s: %s", set, r.Text())
		}
	}
	if r := call("Read", `{"file_path":"a.txt"}`); len(r.Text()) > 1000 || !strings.Contains(r.Text(), "1,") && !strings.Contains(r.Text(), "cut") {
		t.Errorf("the result has %d bytes: %.400q", len(r.Text()), r.Text())
	}
	if r := call("Grep", `{"pattern":"x"}`); r.Error == nil || r.Error.Code != abi.CodeDisabled {
		t.Errorf("Grep: %q", r.Text())
	}
	if !slices.Equal(told, []string{"Edit", "Grep", "NotebookEdit", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "ToolSearch", "Write"}) {
		t.Errorf("told that %q are gone", told)
	}
	if got, err := os.ReadFile(path); err != nil || !strings.Contains(string(got), `only = ["Read", "Glob"]`) {
		t.Errorf("the file is %q, %v", got, err)
	}
}
