//go:build linux && (amd64 || arm64)

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestCommandsSee holds what commands see of a machine: what programs need, what may be read
// unasked, and what this call was permitted to read. Rules and persons that let a command run
// show it no more.
func TestCommandsSee(t *testing.T) {
	t.Parallel()
	// Its words do not tell that it reads a file.
	const reads = `p() { f=$(printf %s "$1"); sed -n 1p "$f"; }; `
	for name, test := range map[string]struct {
		command    string
		mode       permissions.Mode
		deny, read string // rules
		want       string // with it the secret is seen
	}{
		"the working directory":    {command: `p in.txt`, want: "SECRET"},
		"a file of the home":       {command: `p ~/notes.txt`},
		"a credential":             {command: `p ~/.cargo/credentials.toml`},
		"a cache":                  {command: `p ~/.cargo/registry/c.txt`, want: "SECRET"},
		"settings of git":          {command: `p ~/.gitconfig`, want: "SECRET"},
		"by a link to a directory": {command: `p ~/go/m.txt`, want: "SECRET"},
		"what the link is beside":  {command: `p ~/data/n.txt`},
		"a name in a loop":         {command: `for f in ~/*; do head -1 $f 2>/dev/null; done`},
		"named":                    {command: `head -1 ~/notes.txt`, want: "SECRET"},
		"a directory, named":       {command: `ls ~/data; cat ~/data/n.txt`, want: "SECRET"},
		"listed beside a program":  {command: `ls ~/data; python3 -c 'import os; print(open(os.path.expanduser("~/da" + "ta/n.txt")).read())'`},
		"by a rule":                {command: `p ~/data/n.txt`, read: "Read(~/data/**)", want: "SECRET"},
		"a file by a rule":         {command: `p ~/notes.txt`, read: "Read(~/notes.txt)", want: "SECRET"},
		"a link by a rule":         {command: `p ~/link`, read: "Read(~/link)"},
		"denied below a rule":      {command: `p ~/data/deep/.env`, read: "Read(~/data/**)", deny: "Read(.env)"},
		"everything by a rule":     {command: `p ~/notes.txt`, read: "Read(//**)", want: "SECRET"},
		"where all is read":        {command: `p ~/notes.txt`, mode: permissions.ModeBypass, want: "SECRET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"in.txt": "SECRET"})
			h := newShelled(t, func(o *host.Options) {
				o.Permissions.Rules = rules(test.deny, "", strings.TrimSuffix("Bash | "+test.read, " | "))
			})
			for _, file := range []string{
				"notes.txt", ".cargo/credentials.toml", ".cargo/registry/c.txt", ".gitconfig", "data/n.txt", "data/deep/.env", "data/go/m.txt",
			} {
				path := filepath.Join(h.home, file)
				must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must(t, os.WriteFile(path, []byte("SECRET\n"), 0o600))
			}
			must(t, os.Symlink("data/go", filepath.Join(h.home, "go")))
			must(t, os.Symlink("notes.txt", filepath.Join(h.home, "link")))
			s := session(t, h.Host, host.SessionOptions{Cwd: dir, Mode: test.mode, Asker: agreeing()})
			if strings.Contains(test.command, "p ~") || strings.HasPrefix(test.command, "p ") {
				test.command = reads + test.command
			}
			got := told(t, s, test.command)
			if strings.Contains(got, "SECRET") != (test.want != "") || strings.Contains(got, "tool_use_error") {
				t.Errorf("got %q", got)
			}
		})
	}
}
