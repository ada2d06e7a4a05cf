//go:build unix

package compat

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// month is the folder of the fixture.
const month = "testdata/2026-11"

func TestMain(m *testing.M) {
	testenv.Waiting()
	m.Run()
}

// home is a home directory with what an earlier command left in it.
type home struct {
	*testing.T
	dir, command string
}

// open copies a fixture's home directory.
func open(t *testing.T, fixture string) *home {
	t.Helper()
	testenv.SkipUnderRace(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t, dir, testenv.GoProgram(t, "../../../../cmd/host")}
	from := filepath.Join(month, fixture)
	for _, name := range files(t, from) {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		h.make(filepath.Dir(name))
		if err := os.WriteFile(h.path(name), move(name, content, dir), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.make("project/.git") // which a repository cannot hold
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) make(name string) {
	h.Helper()
	if err := os.MkdirAll(h.path(name), 0o700); err != nil {
		h.Fatal(err)
	}
}

// toolquay is the command in the project.
func (h *home) toolquay(args ...string) *exec.Cmd {
	c := exec.CommandContext(h.Context(), h.command, args...)
	c.Dir = h.path("project")
	c.Env = append(os.Environ(), "HOME="+h.dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome(),
		"COLLECTOR_AUTH=x", "COLLECTOR_TENANT=x")
	return c
}

// run runs the command, which must succeed and have nothing to remark, and returns what it
// says, with the recorded home directory in the place of this one.
func (h *home) run(args ...string) string {
	h.Helper()
	c := h.toolquay(args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		h.Fatal(err)
	}
	if err != nil || strings.Contains(errs.String(), "level=") {
		h.Errorf("toolquay %q: %v, %s%s", args, err, out.String(), errs.String())
	}
	return h.recorded(out.String())
}

func (h *home) recorded(text string) string { return strings.ReplaceAll(text, h.dir, recorded) }

// says runs the command and wants texts in what it says.
func (h *home) says(args []string, want ...string) {
	h.Helper()
	got := h.run(args...)
	for _, text := range want {
		if !strings.Contains(got, text) {
			h.Errorf("toolquay %q says %s without %s", args, got, text)
		}
	}
}

// holds says what a file of the project holds.
func (h *home) holds(name, want string) {
	h.Helper()
	if got, err := os.ReadFile(h.path("project/" + name)); err != nil || string(got) != want {
		h.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

// lines are those of a file of the fixture.
func lines(t *testing.T, name string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(month, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}
