package host_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/permissions"
)

// TestStagedSearch compares what Grep and Glob find while files are staged with what
// they find once these are applied: it is the same, whatever is ignored, hidden or
// denied, and before it is applied the disk is as it was.
func TestStagedSearch(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{
		"a.txt": "needle one\n", "b.txt": "nothing\n", "sub/c.go": "needle two\n", "sub/deep/d.txt": "needle three\n",
		".gitignore": "*.log\nbuild/\n", ".git/HEAD": "ref: x\n", "sub/.ignore": "skipped.txt\n", "sub/skipped.txt": "needle ignored\n",
		"build/out.txt": "needle built\n", "secret/x.txt": "needle hidden by a rule\n",
	})
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{
		Source: permissions.SourceCommandLine, Folder: permissions.Dir{Path: dir, Real: dir}, Deny: permissions.RuleTexts("Read(secret/**)", "Read(sub/denied.txt)"),
	}}}})
	writer := session(t, h, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	before := snapshot(t, dir)
	for path, content := range map[string]string{
		"a.txt": "no more\n", "b.txt": "needle staged\n", "sub/c.go": "needle two\nneedle twice\n", "sub/new.go": "needle new\n",
		"fresh/deep/e.txt": "needle fresh\n", "fresh/f.log": "needle in a log\n", "build/g.txt": "needle built too\n",
		"sub/skipped.txt": "needle ignored still\n", ".hidden/h.txt": "needle of a hidden directory\n", "bin.dat": "needle \x00 binary\n",
	} {
		answers(t, writer, "Read", map[string]any{"file_path": path})
		if got := answers(t, writer, "Write", map[string]any{"file_path": path, "content": content}); strings.HasPrefix(got, "ERROR") {
			t.Fatalf("%s: %s", path, got)
		}
	}
	if got := snapshot(t, dir); got != before {
		t.Fatalf("the disk changed:\n%s", got)
	}
	staged := finds(t, writer)
	for query, want := range map[string]string{
		"Grep content": "fresh/deep/e.txt", "Glob **/*.go": "sub/new.go", "Grep in fresh": "needle fresh", "Grep in b.txt": "needle staged",
	} {
		if !strings.Contains(staged[query], want) {
			t.Errorf("%s: %q is not in %q", query, want, staged[query])
		}
	}
	if strings.Contains(staged["Grep content"], "needle one") || strings.Contains(staged["Grep content"], "hidden by a rule") || strings.Contains(staged["Grep content"], "in a log") {
		t.Errorf("it finds what is no more, denied or ignored: %s", staged["Grep content"])
	}
	if _, err := writer.Stage().Apply(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	applied := finds(t, writer)
	for query, want := range applied {
		if staged[query] != want {
			t.Errorf("%s: staged it finds\n%s\nand applied\n%s", query, staged[query], want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "fresh/deep/e.txt")); err != nil || string(text) != "needle fresh\n" {
		t.Errorf("applied: %q, %v", text, err)
	}
}

// finds is what some searches find: lines in an order of their own, since files are
// told by when they changed, which applying does too.
func finds(tb testing.TB, s *host.Session) map[string]string {
	tb.Helper()
	out := make(map[string]string)
	ask := func(name, tool string, input map[string]any) {
		lines := strings.Split(strings.TrimSpace(answers(tb, s, tool, input)), "\n")
		slices.Sort(lines)
		out[name] = strings.Join(lines, "\n")
	}
	grep := func(name string, more map[string]any) {
		input := map[string]any{"pattern": "needle", "output_mode": "content"}
		maps.Copy(input, more)
		ask("Grep "+name, "Grep", input)
	}
	grep("content", nil)
	grep("files", map[string]any{"output_mode": "files_with_matches"})
	grep("count", map[string]any{"output_mode": "count"})
	grep("context", map[string]any{"-C": 1})
	grep("go", map[string]any{"type": "go"})
	grep("glob", map[string]any{"glob": "*.txt"})
	for _, path := range []string{"fresh", "fresh/deep", "sub", "b.txt", "a.txt", ".hidden", "build", "nowhere"} {
		grep("in "+path, map[string]any{"path": path})
		ask("Glob in "+path, "Glob", map[string]any{"pattern": "**", "path": path})
	}
	for _, pattern := range []string{"**/*.go", "**", "*", "fresh/**/*.txt", "fresh/deep/e.txt", "sub/*", "secret/*"} {
		ask(fmt.Sprint("Glob ", pattern), "Glob", map[string]any{"pattern": pattern})
	}
	return out
}
