package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/permissions"
)

// TestStagedByCommands compares what tools read and find before and after changes of commands are
// applied: removed files, and replaced directories.
func TestStagedByCommands(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{
		"a.txt": "needle one\n", "b.txt": "needle two\n", "sub/c.go": "needle three\n", "sub/deep/d.txt": "needle four\n",
		"gone/e.txt": "needle five\n", "gone/f.go": "needle six\n", "kept/g.go": "needle seven\n",
	})
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}})
	s := session(t, h, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	layers, err := s.Stage().Layers([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(layers[0].Upper, name) }
	mark := func(name, attribute string) error {
		return syscall.Setxattr(at(name), "user.overlay."+attribute, []byte("y"), 0)
	}
	err = errors.Join(
		os.WriteFile(at("a.txt"), nil, 0o600), mark("a.txt", "whiteout"),
		os.WriteFile(at("gone"), nil, 0o600), mark("gone", "whiteout"),
		os.Mkdir(at("sub"), 0o755), mark("sub", "opaque"), os.WriteFile(at("sub/h.go"), []byte("needle eight\n"), 0o644),
		os.Mkdir(at("kept"), 0o755), os.WriteFile(at("kept/i.go"), []byte("needle nine\n"), 0o644),
		os.Symlink("b.txt", at("link.txt")),
		s.Stage().Scan(t.Context(), time.Now().Add(time.Hour), capability.Call{ID: "c"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	reads := func(s *host.Session) (out []string) {
		for _, name := range []string{"a.txt", "b.txt", "sub/c.go", "sub/h.go", "gone/e.txt", "link.txt", "kept/g.go", "kept/i.go"} {
			text := answers(t, s, "Read", map[string]any{"file_path": name})
			first, _, _ := strings.Cut(text, "\n")
			if strings.HasPrefix(text, "ERROR") {
				first = "ERROR"
			}
			out = append(out, name+": "+first)
		}
		return out
	}
	staged, read := finds(t, s), reads(s)
	if got := staged["Grep content"]; strings.Contains(got, "one") || strings.Contains(got, "three") || strings.Contains(got, "five") || !strings.Contains(got, "eight") || !strings.Contains(got, "nine") {
		t.Errorf("it finds %s", got)
	}
	if answer := answers(t, s, "Write", map[string]any{"file_path": "gone/e.txt", "content": "needle anew\n"}); strings.HasPrefix(answer, "ERROR") {
		t.Errorf("writing where something was removed: %s", answer)
	}
	if _, err := s.Stage().Discard(t.Context(), stage.Selection{Paths: []string{filepath.Join(dir, "gone")}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(at("gone"), nil, 0o600), mark("gone", "whiteout")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stage().Apply(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	plain := session(t, h, host.SessionOptions{ID: "other", Cwd: dir})
	for query, want := range finds(t, plain) {
		// Before, the error says that the session removed the file.
		got := strings.ReplaceAll(staged[query], "this session removed it", "no such file or directory")
		if got != want {
			t.Errorf("%s: staged it finds\n%s\nand applied\n%s", query, got, want)
		}
	}
	for i, want := range reads(plain) {
		if read[i] != want {
			t.Errorf("staged it reads %s, and applied %s", read[i], want)
		}
	}
}
