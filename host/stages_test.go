package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/permissions"
)

// snapshot is all that lies in a directory: names, modes, times and contents.
func snapshot(tb testing.TB, dir string) string {
	tb.Helper()
	var out strings.Builder
	must(tb, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&out, path, info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			out.Write(text)
			return err
		}
		return nil
	}))
	return out.String()
}

// staging is a session of the tools in the box that stages what is written.
func staging(tb testing.TB, sessions, dir string, tools ...host.NativeTool) *host.Session {
	tb.Helper()
	h := open(tb, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: sessions}, Tools: tools})
	return session(tb, h, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
}

// answers calls a tool, and returns what it says; its errors begin with "ERROR ".
func answers(tb testing.TB, s *host.Session, tool string, input map[string]any) string {
	tb.Helper()
	text, err := json.Marshal(input)
	must(tb, err)
	result, _ := one(tb, s, tool, string(text))
	if result.IsError {
		return "ERROR " + result.Text()
	}
	return result.Text()
}

// TestStagedSession has the tools see what they wrote, over two processes, and nothing
// on the disk change before it is applied.
func TestStagedSession(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\ntwo\n", "sub/b.txt": "other\n", "c.txt": "stays\n"})
	sessions, before := filepath.Join(t.TempDir(), "sessions"), snapshot(t, dir)
	s := staging(t, sessions, dir)
	applied := false // which is a change of the disk, and told once
	type in = map[string]any
	wants := func(tool string, input in, want string) {
		t.Helper()
		got := answers(t, s, tool, input)
		if !strings.Contains(got, want) {
			t.Errorf("%s %v: got %q, want %q", tool, input, got, want)
		}
		if !applied && strings.Contains(got, "read earlier have changed") {
			t.Errorf("%s %v: what it staged itself is told as a change: %q", tool, input, got)
		}
	}
	wants("Edit", in{"file_path": "a.txt", "old_string": "two", "new_string": "2"}, "ERROR")
	wants("Read", in{"file_path": "a.txt"}, "two")
	wants("Edit", in{"file_path": "a.txt", "old_string": "two", "new_string": "2"}, "+2")
	wants("Edit", in{"file_path": "a.txt", "old_string": "2", "new_string": "zwei"}, "+zwei")
	wants("Edit", in{"file_path": "a.txt", "old_string": "two", "new_string": "3"}, "ERROR")
	wants("Write", in{"file_path": "new/deep/d.txt", "content": "made\n"}, "Created")
	wants("Read", in{"file_path": "new/deep/d.txt"}, "made")
	wants("Read", in{"file_path": "new/deep"}, "ERROR")
	wants("Write", in{"file_path": "new", "content": "a file"}, "ERROR")
	wants("Write", in{"file_path": "new/deep/d.txt/e", "content": "below a file"}, "ERROR")
	if got := snapshot(t, dir); got != before {
		t.Errorf("the disk changed:\n%s\nwas:\n%s", got, before)
	}
	if records, _, err := s.History().Records(); err != nil || len(records) > 0 {
		t.Errorf("the history holds %v, %v", records, err)
	}
	closed(t, s)

	s = staging(t, sessions, dir)
	wants("Read", in{"file_path": "a.txt"}, "zwei")
	wants("Edit", in{"file_path": "a.txt", "old_string": "one", "new_string": "eins"}, "+eins")
	if got := snapshot(t, dir); got != before {
		t.Errorf("the disk changed:\n%s\nwas:\n%s", got, before)
	}
	applied = true
	done, err := s.Stage().Apply(t.Context(), stage.Selection{})
	if err != nil || len(done) != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(text) != "eins\nzwei\n" {
		t.Errorf("applied: %q", text)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "new/deep/d.txt")); string(text) != "made\n" {
		t.Errorf("made: %q", text)
	}
	// The model knows what was applied, which is what it wrote.
	wants("Edit", in{"file_path": "a.txt", "old_string": "eins", "new_string": "1"}, "+1")
	if _, err := s.Stage().Discard(t.Context(), stage.Selection{}); err != nil {
		t.Error(err)
	}
	// And what was discarded is no longer what it wrote.
	wants("Edit", in{"file_path": "a.txt", "old_string": "1", "new_string": "I"}, "ERROR")
	wants("Read", in{"file_path": "a.txt"}, "eins")
	if records, _, err := s.History().Records(); err != nil || len(records) != 4 || records[0].Tool != stage.Tool { // two files and two directories
		t.Errorf("the history holds %v, %v", records, err)
	}
}

// TestStageIsKept does not let a session go on that would not see what it has staged.
func TestStageIsKept(t *testing.T) {
	t.Parallel()
	dir, sessions := files(t, map[string]string{"a.txt": "one\n"}), filepath.Join(t.TempDir(), "sessions")
	s := staging(t, sessions, dir)
	answers(t, s, "Write", map[string]any{"file_path": "b.txt", "content": "b"})
	closed(t, s)
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: sessions}})
	_, err := h.NewSession(host.SessionOptions{ID: "mine", Cwd: dir})
	if !errors.Is(err, host.ErrStaged) || !strings.Contains(err.Error(), "b.txt") {
		t.Errorf("without its stage: %v", err)
	}
	again := session(t, h, host.SessionOptions{ID: "mine", Cwd: dir, Stage: true})
	if _, err := again.Stage().Discard(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	closed(t, again)
	if s := session(t, h, host.SessionOptions{ID: "mine", Cwd: dir}); s.Stage() != nil {
		t.Error("it stages without being told to")
	}
	if _, err := h.NewSession(host.SessionOptions{Cwd: dir, Stage: true, Ephemeral: true}); err == nil {
		t.Error("it stages without a folder")
	}
}

// TestStagesAreApart: what one session stages another does not see.
func TestStagesAreApart(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "one\n"})
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}})
	var all []*host.Session
	for _, id := range []string{"one", "other"} {
		all = append(all, session(t, h, host.SessionOptions{ID: id, Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true}))
	}
	for i, s := range all {
		answers(t, s, "Read", map[string]any{"file_path": "a.txt"})
		answers(t, s, "Write", map[string]any{"file_path": "a.txt", "content": fmt.Sprintf("by %d\n", i)})
	}
	for i, s := range all {
		if got := answers(t, s, "Read", map[string]any{"file_path": "a.txt"}); !strings.Contains(got, fmt.Sprintf("by %d", i)) {
			t.Errorf("session %d reads %q", i, got)
		}
	}
	if _, err := all[0].Stage().Apply(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	if _, err := all[1].Stage().Apply(t.Context(), stage.Selection{}); err == nil || !strings.Contains(err.Error(), "changed by something else") {
		t.Errorf("over what the first applied: %v", err)
	}
}

// TestStageRefuses: what knows nothing of a stage may not write past it.
func TestStageRefuses(t *testing.T) {
	t.Parallel()
	ran := false
	run := func(context.Context, struct{}) (string, error) { ran = true; return "done", nil }
	const object = `{"type":"object"}`
	writes := host.NewTool(abi.Tool{Name: "Writes", Summary: "s", InputSchema: object}, run)
	reads := host.NewTool(abi.Tool{Name: "Reads", Summary: "s", InputSchema: object, ReadOnly: abi.TraitTrue}, run)
	s := staging(t, filepath.Join(t.TempDir(), "sessions"), t.TempDir(), writes, reads)
	if got := answers(t, s, "Writes", map[string]any{}); !strings.Contains(got, "ERROR") || !strings.Contains(got, "toolquay stage") || ran {
		t.Errorf("one that may write: %q, ran %t", got, ran)
	}
	if got := answers(t, s, "Reads", map[string]any{}); got != "done" || !ran {
		t.Errorf("one that reads: %q", got)
	}
}

// TestStagedList lists, and tells of, what only the stage has, and hides what rules
// hide there too.
func TestStagedList(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n"})
	var list []abi.Entry
	var stat abi.StatOK
	look := host.NativeTool{
		Contract: abi.Tool{Name: "Look", Summary: "s", InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue},
		Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			answer, err := c.Do(ctx, abi.Request{Name: abi.CapFSList, Args: c.Input})
			if err != nil {
				return abi.ToolResult{}, err
			}
			defer answer.Close()
			list = nil
			if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
				return abi.ToolResult{}, err
			}
			answer, err = c.Do(ctx, abi.Request{Name: abi.CapFSStat, Args: c.Input})
			if err == nil {
				stat = answer.OK.(abi.StatOK)
			}
			return abi.ToolResult{}, err
		},
	}
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}, Tools: []host.NativeTool{look}, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{
		Source: permissions.SourceCommandLine, Folder: permissions.Dir{Path: dir, Real: dir}, Deny: permissions.RuleTexts("Read(sub/hidden*)"),
	}}}})
	s := session(t, h, host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	for _, path := range []string{"a.txt", "sub/c.txt", "new/deep/d.txt"} {
		answers(t, s, "Read", map[string]any{"file_path": path})
		if got := answers(t, s, "Write", map[string]any{"file_path": path, "content": "12345"}); strings.Contains(got, "ERROR") {
			t.Fatal(got)
		}
	}
	if got := answers(t, s, "Write", map[string]any{"file_path": "sub/hidden", "content": "x"}); !strings.Contains(got, "ERROR") {
		t.Errorf("a rule that denies: %q", got)
	}
	for path, want := range map[string][]string{
		".":        {"a.txt file 5", "new directory 0", "sub directory"},
		"sub":      {"b.txt file 2", "c.txt file 5"},
		"new":      {"deep directory 0"},
		"new/deep": {"d.txt file 5"},
	} {
		if got := answers(t, s, "Look", map[string]any{"path": path}); strings.Contains(got, "ERROR") {
			t.Errorf("%s: %s", path, got)
		}
		var lines []string
		for _, e := range list {
			line := fmt.Sprintf("%s %s %d", e.Name, e.Kind, e.Size)
			if e.Name == "sub" {
				line = e.Name + " " + e.Kind
			}
			lines = append(lines, line)
		}
		if !slices.Equal(lines, want) || stat.Kind != abi.KindDirectory {
			t.Errorf("%s: %v, %+v; want %v", path, lines, stat, want)
		}
	}
}
