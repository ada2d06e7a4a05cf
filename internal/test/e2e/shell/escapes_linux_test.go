//go:build amd64 || arm64

package shell_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/host/sandbox/escapes"
	"github.com/toolquay/toolquay/permissions"
)

// tableName is the variable that names a file for a table of the escapes.
const tableName = "TOOLQUAY_ESCAPES"

// TestEscapes has Bash try everything. A command is tried as it is, where rules let
// every command run, but what is known to touch guarded places is refused, as nobody is
// there to be asked. It is tried in a script as well, which no judgement sees through:
// then there is the sandbox alone.
func TestEscapes(t *testing.T) {
	var lines table
	t.Cleanup(func() { lines.write(t) })
	for i, c := range escapes.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			open := tryEscape(t, func(w *escapes.World) string { return spelled(w, c.Shell) })
			hidden := tryEscape(t, func(w *escapes.World) string { return "bash " + script(t, w, c.Shell) })
			if !hidden.ran() || !hidden.Sandboxed {
				t.Errorf("the script did not run in a sandbox: %s", hidden.Text())
			}
			lines.add(i, c.Name, open, hidden)
		})
	}
}

// TestEscapesAreNoticed has Bash try without a sandbox what changes nothing but its
// world: then the world must have something to say.
func TestEscapesAreNoticed(t *testing.T) {
	for _, c := range escapes.Cases() {
		if !c.Loose {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			w := escapes.New(t)
			a := deskIn(t, w, unconfined).bash("bash " + script(t, w, c.Shell))
			if !a.ran() || a.Sandboxed || len(w.Verify(t, a.output())) == 0 {
				t.Errorf("it went unnoticed: %s", a.Text())
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
	a := d.bash(command, input{"timeout": 30_000})
	d.close() // tidies up
	t.Logf("%s\n%s", command, a.Text())
	for _, did := range w.Verify(t, a.output()) {
		t.Errorf("%s: %s", command, did)
	}
	if left := placeholders(t, w.Work); len(left) > 0 {
		t.Errorf("%s: %q are left", command, left)
	}
	for i, block := range a.Content {
		a.Content[i].Text = strings.ReplaceAll(block.Text, filepath.Dir(w.Work), "~")
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
		s.host.Home = filepath.Dir(w.Work)
		s.host.Shell.State = w.State
		s.host.Shell.Environ = w.Env
		s.host.Shell.Environment = []string{"*"}
	}
	return newDesk(t, append(changes, ruled(permissions.RuleSet{Deny: permissions.RuleTexts(denied...)}), world)...)
}

// placeholders are those that a sandbox left in a directory.
func placeholders(tb testing.TB, dir string) []string {
	tb.Helper()
	var left []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be looked into is looked at from above
		}
		if info, err := d.Info(); err == nil && (d.Type() == fs.ModeSocket || d.IsDir() && info.Mode().Perm() == 0) {
			left = append(left, path)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return left
}

// table is what the escapes came to.
type table struct {
	mu    sync.Mutex
	lines []tableLine
}

type tableLine struct {
	at   int
	text string
}

func (t *table) add(at int, name string, open, hidden answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, tableLine{at, fmt.Sprintf("| %d | %s | %s | %s | %s |", at+1, cell(name), outcome(&open), outcome(&hidden), cell(hidden.output()))})
}

// outcome is one word for what became of a call.
func outcome(a *answer) string {
	switch {
	case !a.ran():
		return "refused"
	case a.Exit == nil:
		return "no end"
	}
	return fmt.Sprintf("exit %d", *a.Exit)
}

// cell makes the beginning of a text fit to stand in a table.
func cell(text string) string {
	const shown = 200
	text = strings.ToValidUTF8(text[:min(len(text), shown)], "")
	return strings.NewReplacer("|", `\|`, "\n", " ⏎ ", "\r", "", "\x00", "").Replace(strings.TrimSpace(text))
}

func (t *table) write(tb testing.TB) {
	tb.Helper()
	file := os.Getenv(tableName)
	if file == "" {
		return
	}
	who, err := user.Current()
	if err != nil {
		tb.Fatal(err)
	}
	file = strings.TrimSuffix(file, ".md") + "-" + who.Username + ".md"
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortFunc(t.lines, func(a, b tableLine) int { return a.at - b.at })
	var text strings.Builder
	text.WriteString("| | case | as a command | in a script | what the script printed |\n| --- | --- | --- | --- | --- |\n")
	for _, line := range t.lines {
		text.WriteString(line.text + "\n")
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		tb.Error(err)
	}
}
