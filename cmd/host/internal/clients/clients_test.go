package clients

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolquay/toolquay/internal/testenv"
)

var update = flag.Bool("update", false, "write what files become into testdata")

var example = Server{Name: "toolquay", Command: "/opt/tool quay/bin/toolquay", Args: []string{"mcp", "--mode", "plan"}}

// TestFiles changes the files of testdata, each named after its client: what install makes of
// them, that a second install makes nothing of that, and what uninstall leaves. Without a part
// of its own for that, uninstall leaves the file as it was.
func TestFiles(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range archives {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			client, err := Find(strings.SplitN(name, "_", 2)[0])
			if err != nil {
				t.Fatal(err)
			}
			before := part(archive, "before")
			after, err := client.put(slices.Clone(before), example)
			if err != nil {
				t.Fatalf("install: %v", err)
			}
			again, err := client.put(slices.Clone(after), example)
			if err != nil || !bytes.Equal(again, after) {
				t.Errorf("a second install: %v\n%s", err, again)
			}
			gone, err := client.take(slices.Clone(after), example.Name)
			if err != nil {
				t.Errorf("uninstall: %v", err)
			}
			if *update {
				writeParts(t, path, archive, before, after, gone)
				return
			}
			if want := part(archive, "after"); !bytes.Equal(after, want) {
				t.Errorf("install makes\n%s\nwant\n%s", after, want)
			}
			want := part(archive, "gone")
			if want == nil {
				want = before
			}
			if !bytes.Equal(gone, want) {
				t.Errorf("uninstall leaves\n%s\nwant\n%s", gone, want)
			}
		})
	}
}

func part(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func writeParts(t *testing.T, path string, a *txtar.Archive, before, after, gone []byte) {
	t.Helper()
	a.Files = []txtar.File{{Name: "before", Data: before}, {Name: "after", Data: after}}
	if !bytes.Equal(gone, before) {
		a.Files = append(a.Files, txtar.File{Name: "gone", Data: gone})
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRefused has files that are left as they are, each with what the error says.
func TestRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ client, body, want string }{
		"JSON that is broken":     {"cursor", "{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3"},
		"no object":               {"vscode", "[]\n", "not an object"},
		"servers are a list":      {"gemini", `{"mcpServers": []}`, "mcpServers is not a table"},
		"an entry is a text":      {"zed", `{"context_servers": {"toolquay": "x"}}`, "context_servers.toolquay is not a table"},
		"a key twice":             {"cursor", `{"mcpServers": {}, "mcpServers": {}}`, "mcpServers"},
		"TOML that is broken":     {"codex", "a = 1\nb = \n", "line 2"},
		"an inline table of TOML": {"codex", "mcp_servers = { other = { command = \"x\" } }\n", "by hand"},
		"YAML that is broken":     {"goose", "a: 1\n b: 2\n", "line 2"},
		"two documents":           {"goose", "a: 1\n---\nb: 2\n", "more than one document"},
		"a mapping in braces":     {"goose", "extensions: {developer: {enabled: true}}\n", "in braces; add this by hand"},
		"an anchor":               {"goose", "a: &a\n  x: 1\nextensions: *a\n", "by hand"},
		"a list of YAML":          {"goose", "extensions:\n  - a\n", "extensions is not a table"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := Find(tt.client)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := client.put([]byte(tt.body), example); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("put: %v, want %q; it made\n%s", err, tt.want, got)
			}
		})
	}
}

// TestNotOurs leaves entries alone that install did not write.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	client, err := Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{`"npx", "args": ["mcp"]`, `"toolquay", "args": ["serve"]`, `"/bin/toolquay"`, `["x"]`} {
		body := `{"mcpServers": {"toolquay": {"command": ` + command + `}}}`
		if _, err := client.take([]byte(body), "toolquay"); err == nil || !strings.Contains(err.Error(), "take it out by hand") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	env := func(vars ...string) func(string) string {
		return func(name string) string {
			for _, v := range vars {
				if n, value, _ := strings.Cut(v, "="); n == name {
					return value
				}
			}
			return ""
		}
	}
	tests := []struct {
		client, os, project, want string
		env                       []string
	}{
		{client: "claude-code", os: "linux", want: "/h/.claude.json"},
		{client: "claude-code", os: "linux", want: "/c/.claude.json", env: []string{"CLAUDE_CONFIG_DIR=/c"}},
		{client: "claude-code", os: "linux", project: "/p", want: "/p/.mcp.json"},
		{client: "codex", os: "linux", want: "/h/.codex/config.toml"},
		{client: "codex", os: "linux", want: "/x/config.toml", env: []string{"CODEX_HOME=/x"}},
		{client: "codex", os: "linux", project: "/p", want: "/p/.codex/config.toml"},
		{client: "gemini", os: "darwin", want: "/h/.gemini/settings.json"},
		{client: "gemini", os: "linux", project: "/p", want: "/p/.gemini/settings.json"},
		{client: "cursor", os: "linux", want: "/h/.cursor/mcp.json"},
		{client: "cursor", os: "linux", project: "/p", want: "/p/.cursor/mcp.json"},
		{client: "vscode", os: "linux", want: "/h/.config/Code/User/mcp.json"},
		{client: "vscode", os: "linux", want: "/x/Code/User/mcp.json", env: []string{"XDG_CONFIG_HOME=/x"}},
		{client: "vscode", os: "darwin", want: "/h/Library/Application Support/Code/User/mcp.json"},
		{client: "vscode", os: "windows", want: "/d/Code/User/mcp.json", env: []string{"APPDATA=/d"}},
		{client: "vscode", os: "linux", project: "/p", want: "/p/.vscode/mcp.json"},
		{client: "zed", os: "linux", want: "/h/.config/zed/settings.json"},
		{client: "zed", os: "darwin", want: "/h/.config/zed/settings.json", env: []string{"XDG_CONFIG_HOME=/x"}},
		{client: "zed", os: "windows", want: "/h/AppData/Roaming/Zed/settings.json"},
		{client: "zed", os: "linux", project: "/p", want: "/p/.zed/settings.json"},
		{client: "opencode", os: "linux", want: "/h/.config/opencode/opencode.json"},
		{client: "opencode", os: "linux", project: "/p", want: "/p/opencode.json"},
		{client: "goose", os: "darwin", want: "/h/.config/goose/config.yaml"},
		{client: "goose", os: "windows", want: "/d/Block/goose/config/config.yaml", env: []string{"APPDATA=/d"}},
	}
	for _, tt := range tests {
		client, err := Find(tt.client)
		if err != nil {
			t.Fatal(err)
		}
		p := Places{OS: tt.os, Home: "/h", Project: tt.project, Getenv: env(tt.env...)}
		if got, err := client.Path(p); got != filepath.FromSlash(tt.want) || err != nil {
			t.Errorf("%s on %s with %q: %s, %v, want %s", tt.client, tt.os, tt.env, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ client, project, home string }{{"goose", "/p", "/h"}, {"claude-desktop", "", "/h"}, {"zed", "", ""}} {
		client, err := Find(tt.client)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := client.Path(Places{OS: "linux", Home: tt.home, Project: tt.project, Getenv: env()}); err == nil {
			t.Errorf("%+v: %s, want an error", tt, got)
		}
	}
}

// TestWrite follows links, keeps modes, and refuses what changed meanwhile.
func TestWrite(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	client, err := Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := Places{OS: "linux", Home: home, Getenv: func(string) string { return "" }}
	install := func() *Change {
		t.Helper()
		ch, err := client.Install(p, example)
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	ch := install()
	if err := ch.Write(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(ch.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new file: %v, %v", info, err)
	}
	if again := install(); !again.None() || again.Diff() != "" {
		t.Errorf("a second install changes\n%s", again.Diff())
	}
	target := filepath.Join(home, "dotfiles.json")
	err = errors.Join(os.Rename(ch.Path, target), os.WriteFile(target, []byte("\ufeff{}\r\n"), 0o600), os.Chmod(target, 0o640), os.Symlink(target, ch.Path))
	if err != nil {
		t.Fatal(err)
	}
	late := install()
	if err := install().Write(); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(target)
	if err != nil || !bytes.HasPrefix(body, []byte("\ufeff{\r\n  \"mcpServers\": {\r\n")) || bytes.Count(body, []byte("\n")) != bytes.Count(body, []byte("\r\n")) {
		t.Errorf("through a link: %v\n%q", err, body)
	}
	if info, err := os.Lstat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode: %v, %v", info, err)
	}
	if info, err := os.Lstat(ch.Path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info, err)
	}
	if err := late.Write(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("over another change: %v", err)
	}
	project := Places{OS: "linux", Home: home, Project: t.TempDir(), Getenv: p.Getenv}
	dir := filepath.Join(project.Project, ".cursor")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink(target, filepath.Join(dir, "mcp.json"))); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Install(project, example); err == nil || !strings.Contains(err.Error(), "outside of the project") {
		t.Errorf("out of a project: %v", err)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Install(p, example); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("a dangling link: %v", err)
	}
}
