package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestHardLinksToDenied asks for files by other names than the one that a rule denies, by
// every tool that reads or writes. Files with several names that no rule speaks of stay
// open.
func TestHardLinksToDenied(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	const canary = "CANARY-of-a-denied-file"
	for _, test := range []struct {
		name, deny, held string
		confined         sandbox.Mode
	}{
		{"any depth", "Read(.env)", "sub/.env", sandbox.WhenAvailable},
		{"any depth, without a sandbox", "Read(.env)", "sub/.env", sandbox.Off},
		{"a path", "Read(./sub/.env)", "sub/.env", sandbox.WhenAvailable},
		{"a directory", "Read(secrets/**)", "secrets/deep/key", sandbox.WhenAvailable},
		{"a pattern", "Read(*.pem)", "a/b/c.pem", sandbox.WhenAvailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			for name, text := range map[string]string{test.held: canary + "\n", "free": "free text\n"} {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
				must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			}
			must(t, os.Link(filepath.Join(dir, test.held), filepath.Join(dir, "notes.txt")))
			must(t, os.Link(filepath.Join(dir, "free"), filepath.Join(dir, "also-free")))
			h := newShelled(t, func(o *host.Options) {
				o.Permissions.Rules = rules(test.deny, "", "Bash")
				o.Permissions.Rules[0].Mode, o.Shell.Sandbox.Mode = permissions.ModeAcceptEdits, test.confined
			})
			s := session(t, h.Host, host.SessionOptions{Cwd: dir})
			for _, c := range []struct{ tool, input string }{
				{"Read", `{"file_path":"notes.txt"}`},
				{"Grep", `{"pattern":"CANARY","output_mode":"content"}`},
				{"Grep", `{"pattern":"CANARY","path":"notes.txt","output_mode":"content"}`},
				{"Edit", `{"file_path":"notes.txt","old_string":"CANARY","new_string":"x"}`},
				{"Write", `{"file_path":"notes.txt","content":"x"}`},
				{"Bash", `{"command":"cat notes.txt"}`},
				{"Bash", `{"command":"cat < notes.txt"}`},
				{"Bash", `{"command":"head -n 1 ./notes.txt"}`},
				{"Bash", `{"command":"echo x > notes.txt"}`},
				{"Bash", `{"command":"cp notes.txt copy"}`},
			} {
				r, _ := one(t, s, c.tool, c.input)
				if text := r.Text(); strings.Contains(text, canary) || strings.Contains(text, filepath.Join(dir, test.held)) {
					t.Errorf("%s %s tells %q", c.tool, c.input, text)
				}
			}
			content, err := os.ReadFile(filepath.Join(dir, test.held))
			if must(t, err); string(content) != canary+"\n" {
				t.Errorf("the denied file was changed: %q", content)
			}
			for _, c := range []struct{ tool, input string }{
				{"Read", `{"file_path":"also-free"}`}, {"Bash", `{"command":"cat also-free"}`},
				{"Grep", `{"pattern":"free","output_mode":"content"}`},
			} {
				if r, _ := one(t, s, c.tool, c.input); !strings.Contains(r.Text(), "free text") {
					t.Errorf("%s %s: %s", c.tool, c.input, r.Text())
				}
			}
			if test.confined != sandbox.Off {
				r, _ := one(t, s, "Bash", `{"command":"python3 -c \"print(open('notes.txt').read())\" || sh -c 'cat notes.txt'"}`)
				if strings.Contains(r.Text(), canary) {
					t.Errorf("a script in the sandbox reads %q", r.Text())
				}
			}
		})
	}
}
