package stage

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/changes"
)

// formerStage creates a stage in the format of an earlier version: "one" and then "two" were
// staged for a file with the content "old".
func formerStage(t *testing.T) (dir, file string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, file = filepath.Join(root, "stage"), filepath.Join(root, "f")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var log []byte
	for _, text := range []string{"one", "two"} {
		l := line{
			Kind: kindFormer, Path: changes.Name(file), Name: newName(), Call: "c-" + text, Tool: "Write",
			Content: contentOf(sha256.Sum256([]byte(text)), 3), Base: contentOf(sha256.Sum256([]byte("old")), 3),
		}
		if err := os.WriteFile(filepath.Join(dir, l.Name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		encoded, err := l.encode()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, encoded...)
	}
	if err := os.WriteFile(filepath.Join(dir, changes.LogName), log, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// TestFormer applies what an earlier version staged, over the file, over what the earlier version
// may have applied, and over another content.
func TestFormer(t *testing.T) {
	t.Parallel()
	for now, want := range map[string]string{"old": "", "one": "", "two": "", "else": "changed by something else"} {
		dir, file := formerStage(t)
		if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		s := Open(dir, Options{})
		if list, err := s.List(Selection{}); err != nil || len(list) != 1 || list[0].Calls[0] != "c-two" || list[0].Content.Size != 3 {
			t.Fatalf("%s: %+v, %v", now, list, err)
		}
		_, err := Open(dir, Options{}).Apply(t.Context(), Selection{})
		text, _ := os.ReadFile(file)
		if want == "" && (err != nil || string(text) != "two") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: it is %q, %v", now, text, err)
		}
		if _, err := s.Discard(t.Context(), Selection{}); want != "" && err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*"+contentEnd)); len(left) > 0 {
			t.Errorf("%s: left: %q", now, left)
		}
	}
}

// TestFormerKilled checks that a conversion continues after the process was killed after any
// line, and that missing content is refused.
func TestFormerKilled(t *testing.T) {
	t.Parallel()
	dir, _ := formerStage(t)
	if _, err := Open(dir, Options{}).List(Selection{}); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, changes.LogName)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for n := 2; n < len(lines); n++ { // after the two lines of formerStage
		if err := os.WriteFile(log, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := Open(dir, Options{}).List(Selection{})
		if err != nil || len(list) != 1 || list[0].Content.Size != 3 {
			t.Errorf("after %d lines: %+v, %v", n, list, err)
		}
	}
	if err := os.WriteFile(log, bytes.Join(lines[:2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, upperDir)); err != nil {
		t.Fatal(err)
	}
	s := Open(dir, Options{})
	if _, err := s.List(Selection{}); err == nil || !strings.Contains(err.Error(), "discard --all") {
		t.Errorf("without its content: %v", err)
	}
	if _, err := s.Discard(t.Context(), Selection{}); err != nil {
		t.Error(err)
	}
	if list, err := s.List(Selection{}); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
