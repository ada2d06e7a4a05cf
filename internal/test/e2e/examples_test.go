package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

const examples = "../../../plugin-examples"

func TestMain(m *testing.M) {
	testenv.Waiting()
	code := m.Run()
	if h, err := desks(); err != nil || h.Close(context.Background()) != nil {
		panic("the host of the desks does not close")
	}
	os.Exit(code)
}

// user is somebody with a home directory, a folder of plugins and some files.
type user struct {
	command, home, plugins, work string
}

func newUser(t *testing.T) user {
	t.Helper()
	testenv.SkipUnderRace(t)
	u := user{command: testenv.GoProgram(t, "../../../cmd/host"), home: t.TempDir(), plugins: t.TempDir(), work: t.TempDir()}
	for name, content := range map[string]string{
		"people.csv": "name,age,city\nAda,36,London\nGrace,85,Arlington\nAlan,41,Wilmslow\n",
		"notes.md":   "# Notes\n\ntext\n\n## Second part\n\n```\n# no heading\n```\n",
		"words.txt":  "one two three\nfour\n",
	} {
		u.write(t, name, content)
	}
	return u
}

// write writes a file where the user works.
func (u user) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(u.work, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// toolquay runs the command as the user and returns what it printed and its
// exit code.
func (u user) toolquay(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), u.command, append([]string{"--plugins", u.plugins}, args...)...)
	c.Dir = u.work
	c.Env = append(os.Environ(), "HOME="+u.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome())
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// builds build the examples, each once.
var builds sync.Map

// install builds an example and copies it into the user's plugin directory.
func (u user) install(t *testing.T, name string) {
	t.Helper()
	source := filepath.Join(examples, name)
	if _, err := os.Stat(filepath.Join(source, "Cargo.toml")); err == nil {
		testenv.SkipUnlessThorough(t) // cargo builds for minutes what it has not built here
	}
	build, _ := builds.LoadOrStore(name, sync.OnceValues(exec.Command("sh", filepath.Join(source, "build.sh")).CombinedOutput))
	if out, err := build.(func() ([]byte, error))(); err != nil { //nolint:forcetypeassert // all are
		testenv.Missing(t, "what building "+name+" needs: "+string(out))
	}
	folder := filepath.Join(u.plugins, name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"plugin.toml", name + ".wasm"} {
		content, err := os.ReadFile(filepath.Join(source, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExampleWrites has an example read a file and write it in one call: a person, or a
// mode, decides as about any other write.
func TestExampleWrites(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.install(t, "outline-go")
	u.write(t, "toc.md", "<!-- contents -->\n<!-- /contents -->\n# One\n## Two\n")
	call := []string{"--grant", "outline-go", "call", "Contents", `{"file_path":"toc.md"}`}
	if _, stderr, code := u.toolquay(t, call...); code == 0 || !strings.Contains(stderr, "toc.md") {
		t.Errorf("in the mode default, with nobody to ask: exit %d, %s", code, stderr)
	}
	if out, stderr, code := u.toolquay(t, append([]string{"--mode", "acceptEdits"}, call...)...); code != 0 || !strings.Contains(out, "+- One") {
		t.Fatalf("where edits are accepted: exit %d, %s%s", code, out, stderr)
	}
	got, err := os.ReadFile(filepath.Join(u.work, "toc.md"))
	if err != nil || string(got) != "<!-- contents -->\n- One\n  - Two\n<!-- /contents -->\n# One\n## Two\n" {
		t.Errorf("it holds %q, %v", got, err)
	}
}

// TestExamples takes every example through what a user does with a plugin.
func TestExamples(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tool, input string
		says        []string
		missing     string // the same call on a file that is not there
		plain       string // an input of which the export gets the text alone
	}{
		"csvquery": {
			tool: "CsvQuery", input: `{"file_path":"people.csv","where":[{"column":"age","op":">","value":40}],"order_by":"-age","select":["name"]}`,
			says: []string{"Grace", "Alan"}, missing: `{"file_path":"nobody.csv"}`,
		},
		"outline-go": {
			tool: "Outline", input: `{"file_path":"notes.md"}`,
			says: []string{"Notes", "Second part"}, missing: `{"file_path":"nothing.md"}`,
		},
		"wordcount-extism": {
			tool: "CountFile", input: `{"file_path":"words.txt"}`,
			says: []string{"4 words"}, missing: `{"file_path":"nothing.txt"}`, plain: `{"text":"on\u00e9 two\n"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.install(t, name)

			_, stderr, code := u.toolquay(t, "call", test.tool, test.input)
			if code == 0 || !strings.Contains(stderr, " plugins trust "+name) {
				t.Fatalf("a call without a grant: exit %d, %s", code, stderr)
			}
			if out, _, code := u.toolquay(t, "plugins", "info", name); code != 0 || !strings.Contains(out, "fs.read") {
				t.Errorf("plugins info: exit %d, %s", code, out)
			}
			if _, stderr, code := u.toolquay(t, "plugins", "trust", name, "--yes"); code != 0 {
				t.Fatalf("plugins trust: exit %d, %s", code, stderr)
			}
			out, stderr, code := u.toolquay(t, "call", test.tool, test.input)
			if code != 0 {
				t.Fatalf("the call: exit %d, %s", code, stderr)
			}
			for _, want := range test.says {
				if !strings.Contains(out, want) {
					t.Errorf("the call says %q; want %q in it", out, want)
				}
			}
			if test.plain != "" {
				if out, stderr, code := u.toolquay(t, "call", "CountText", test.plain); code != 0 || !strings.Contains(out, "1 lines, 2 words, 8 characters, 9 bytes") {
					t.Errorf("a text as it is: exit %d, %s%s", code, out, stderr)
				}
			}
			if _, _, code := u.toolquay(t, "call", test.tool, test.missing); code == 0 {
				t.Error("a file that is not there was no error")
			}
			if _, stderr, code := u.toolquay(t, "--deny", "Read(*.*)", "call", test.tool, test.input); code == 0 || !strings.Contains(stderr, "Read(*.*)") {
				t.Errorf("a denied call: exit %d, %s", code, stderr)
			}
			u.change(t, name)
			if _, stderr, code := u.toolquay(t, "call", test.tool, test.input); code == 0 || !strings.Contains(stderr, "changed since") {
				t.Errorf("a call to a changed plugin: exit %d, %s", code, stderr)
			}
		})
	}
}

// change alters an installed plugin by one harmless byte.
func (u user) change(t *testing.T, name string) {
	t.Helper()
	file := filepath.Join(u.plugins, name, "plugin.toml")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
}

// TestPackedExample packs a plugin into one file, which is then dropped in.
func TestPackedExample(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.install(t, "outline-go")
	folder := filepath.Join(u.plugins, "outline-go")
	file := filepath.Join(t.TempDir(), "outline.wasm")
	if out, stderr, code := u.toolquay(t, "plugins", "pack", folder, "-o", file); code != 0 {
		t.Fatalf("plugins pack: exit %d, %s%s", code, out, stderr)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, filepath.Join(u.plugins, "outline.wasm")); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := u.toolquay(t, "--grant", "outline-go", "call", "Outline", `{"file_path":"notes.md"}`)
	if code != 0 || !strings.Contains(out, "Second part") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
}
