package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestEditsAreWatched has a provider see files before and after they are edited, and note
// something behind the results of edits that were done.
func TestEditsAreWatched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	var seen []string
	see := func(when string, e host.FileEdit) {
		if !filepath.IsAbs(e.File) || e.Policy == nil {
			t.Errorf("told of %+v", e)
		}
		text, _ := os.ReadFile(e.File)
		seen = append(seen, fmt.Sprintf("%s %s %s %q", e.Session, when, filepath.Base(e.File), text))
	}
	h := open(t, host.Options{
		Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")},
	})
	if err := h.Provide("editor", host.Provided{Edits: func(_ context.Context, e host.FileEdit) func(context.Context) string {
		see("before", e)
		return func(context.Context) string {
			see("after", e)
			return "The editor saw it."
		}
	}}); err != nil {
		t.Fatal(err)
	}
	s := session(t, h, host.SessionOptions{ID: "s", Cwd: dir, Mode: permissions.ModeAcceptEdits})
	write := func(s *host.Session, content string) abi.ToolResult {
		r, _ := one(t, s, "Write", fmt.Sprintf(`{"file_path":"a.txt","content":%q}`, content))
		return r
	}
	if r := write(s, "one"); r.IsError || !strings.HasSuffix(r.Text(), "The editor saw it.") {
		t.Errorf("got %s", r.Text())
	}
	if r, _ := one(t, s, "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":"nothing","new_string":"x"}`, file)); !r.IsError || strings.Contains(r.Text(), "editor") {
		t.Errorf("an edit that fails: %s", r.Text())
	}
	one(t, s, "Read", fmt.Sprintf(`{"file_path":%q}`, file))
	staged := session(t, h, host.SessionOptions{ID: "staged", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	if r := write(staged, "two"); strings.Contains(r.Text(), "editor") {
		t.Errorf("a staged edit: %s", r.Text())
	}
	want := []string{`s before a.txt ""`, `s after a.txt "one"`, `s before a.txt "one"`}
	if !slices.Equal(seen, want) {
		t.Errorf("seen: %q, want %q", seen, want)
	}
	if err := h.Provide("editor", host.Provided{}); err != nil {
		t.Fatal(err)
	}
	if r := write(s, "three"); r.IsError || strings.Contains(r.Text(), "editor") {
		t.Errorf("after the provider has gone: %s", r.Text())
	}
}
