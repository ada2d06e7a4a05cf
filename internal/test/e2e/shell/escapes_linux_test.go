//go:build amd64 || arm64

package shell_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestEscapes has Bash try everything. A command is tried as it is, where rules let
// every command run, but what is known to touch guarded places is refused, as nobody is
// there to be asked. It is tried in a script as well, which no judgement sees through:
// then there is the sandbox alone.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for i, c := range escapes.Cases() {
		if !testenv.Thorough() && i%10 != 0 {
			continue // the scripts have it
		}
		t.Run("as a command/"+c.Name, func(t *testing.T) {
			t.Parallel()
			tryEscape(t, func(w *escapes.World) string { return spelled(w, c.Shell) })
		})
	}
	for _, c := range escapes.Batches() {
		t.Run("in a script/"+c.Name, func(t *testing.T) {
			t.Parallel()
			a := tryEscape(t, func(w *escapes.World) string { return "bash " + script(t, w, c.Shell) })
			if !a.ran() || !a.Sandboxed || !strings.Contains(a.output(), escapes.Ended) {
				t.Errorf("the script did not run in a sandbox, or not to its end: %s", a.Text())
			}
		})
	}
}

// script is a case in a file.
func script(t *testing.T, w *escapes.World, text string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(w.Work), "escape.sh")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// spelled is a case with the world's variables in place, for all to see what it means.
func spelled(w *escapes.World, command string) string {
	var pairs []string
	for _, setting := range w.Env {
		if name, value, _ := strings.Cut(setting, "="); name != "PATH" {
			pairs = append(pairs, "$"+name, value)
		}
	}
	return strings.NewReplacer(pairs...).Replace(command)
}

// tryEscape tries one, which a world is told as a command, in a world of its own.
func tryEscape(t *testing.T, tell func(*escapes.World) string) answer {
	t.Helper()
	w := escapes.New(t)
	command := tell(w)
	d := deskIn(t, w)
	a := d.bash(command, input{"timeout": 60_000})
	d.close() // tidies up
	t.Logf("%s\n%s", command, a.Text())
	for _, did := range w.Verify(t, a.output()) {
		t.Errorf("%s: %s", command, did)
	}
	if left := litter(t, w.Work); len(left) > 0 {
		t.Errorf("%s: %q are left", command, left)
	}
	return a
}

// deskIn is a desk in a world. The world lies where commands have nothing in sight but
// the home and the session's directory, so its folder is the home.
func deskIn(t *testing.T, w *escapes.World, changes ...func(*setup)) *desk {
	t.Helper()
	var denied []string
	for _, path := range w.Hidden {
		denied = append(denied, "Read(/"+path+")")
	}
	world := func(s *setup) {
		s.session.Cwd = w.Work
		s.host.Paths.Home = filepath.Dir(w.Work)
		s.host.Shell.Sandbox.State = w.State
		s.host.Shell.Environ = w.Env
		s.host.Shell.Environment = []string{"*"}
	}
	return newDesk(t, append(changes, ruled(permissions.RuleSet{Deny: permissions.RuleTexts(denied...)}), world)...)
}

// litter is what lies in a directory that no command made: what was undone is not left beside.
func litter(tb testing.TB, dir string) []string {
	tb.Helper()
	var left []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.Type() == fs.ModeSocket || strings.HasPrefix(d.Name(), ".toolquay-")) {
			left = append(left, path)
		}
		return nil // what cannot be looked into is looked at from above
	})
	if err != nil {
		tb.Fatal(err)
	}
	return left
}

// TestRaces has Bash run what makes protected names again and again: it is ended, and nothing is
// left of them.
func TestRaces(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	for i, c := range escapes.Races() {
		if !testenv.Thorough() && i%3 != 0 {
			continue // the sandbox's own tests have them all
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.put("race.sh", c.Shell)
			a := d.bash("bash race.sh", input{"timeout": 60_000})
			if !a.ran() || a.TimedOut || !strings.Contains(a.Text(), "was made again and again") && !strings.Contains(a.Text(), "could not be undone") {
				t.Errorf("%s", a.Text())
			}
			_ = os.Chmod(d.dir, 0o755) //nolint:gosec // as it was
			for _, name := range []string{".npmrc", ".vscode", ".bashrc", ".claude"} {
				if d.has(name) {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}
