package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions/settings"
)

// serversOf are the servers of a user's settings and a trusted project's .mcp.json.
func serversOf(t *testing.T, user, shared string, variables map[string]string) (list []servers.Config, u *trusting) {
	t.Helper()
	u = newTrusting(t)
	if err := os.MkdirAll(u.dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.dirs.Settings(), []byte(user), 0o600); err != nil {
		t.Fatal(err)
	}
	u.write(t, ".mcp.json", shared)
	u.write(t, ".toolquay/settings.toml", "[mcp.own]\ncommand = 'bin/own'\nread = ['data', '/srv']\n")
	u.grant(t, u.root, u.unseen(t))
	project := u.at(t, u.root)
	sources := config.UserSettings(u.dirs, project)
	sources.SystemDir = ""
	loaded, err := settings.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	return config.ServersOf(u.dirs, project, loaded, func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}), u
}

func TestServers(t *testing.T) {
	t.Parallel()
	list, u := serversOf(t, `
[mcp.files]
command = ["npx", "${PACKAGE:-files}", "${TOOLQUAY_PROJECT_DIR}"]
env = { TOKEN = "a ${TOKEN}" }
dir = "~/work"
read = ["~", "docs", "${TOOLQUAY_PROJECT_DIR}"]
write = ["/out/../var"]
network = ["example.com"]
trust_annotations = true
always_load = true
start_timeout = 5
[mcp.shared]
network = ["example.org"]
write = ["w"]
[mcp.tracker]
url = "https://${HOST}/mcp"
headers = { A = "${TOKEN}" }
auth = { client_id = "me", client_secret_env = "SECRET", scopes = ["a"], grant = "client_credentials", redirect_port = 9 }
[mcp.off]
command = "p"
enabled = false
`, `{"mcpServers": {"shared": {"command": "x", "env": {"T": "${TOKEN}"}}, "old": {"type": "sse", "url": "http://localhost:1/sse"}}}`,
		map[string]string{"TOKEN": "t", "HOST": "a.example.com", "SECRET": "s"})
	for i := range list {
		if list[i].Source.File == "" || list[i].Source.Line == 0 {
			t.Errorf("%s has no source", list[i].Name)
		}
		list[i].Source = servers.Config{}.Source
		if list[i].URL == "" && list[i].Env[config.ServerVariable] != list[i].Name {
			t.Errorf("%s is not told that it is a server", list[i].Name)
		}
		if delete(list[i].Env, config.ServerVariable); len(list[i].Env) == 0 {
			list[i].Env = nil
		}
	}
	want := []servers.Config{
		{
			Name: "files", Command: []string{"npx", "files", u.root}, Env: map[string]string{"TOKEN": "a t"}, Dir: u.dirs.Home + "/work",
			Read: []string{u.dirs.Home, u.dirs.Config + "/docs", u.root}, Write: []string{"/var"}, Network: []string{"example.com"},
			TrustAnnotations: true, AlwaysLoad: true, StartTimeout: 5 * time.Second,
		},
		{Name: "old", URL: "http://localhost:1/sse", SSE: true, Headers: map[string]string{}},
		{Name: "own", Command: []string{"bin/own"}, Dir: u.root, Read: []string{filepath.Join(u.root, "data"), "/srv"}, Write: []string{}},
		{
			Name: "shared", Command: []string{"x"}, Env: map[string]string{"T": "t"}, Dir: u.root,
			Network: []string{"example.org"}, Read: []string{}, Write: []string{u.dirs.Config + "/w"},
		},
		{
			Name: "tracker", URL: "https://a.example.com/mcp", Headers: map[string]string{"A": "t"},
			Auth: &servers.Auth{ClientID: "me", ClientSecret: "s", Scopes: []string{"a"}, Grant: "client_credentials", RedirectPort: 9},
		},
	}
	for i := range want {
		if i >= len(list) || !reflect.DeepEqual(list[i], want[i]) {
			t.Errorf("got  %+v\nwant %+v", list[min(i, len(list)-1)], want[i])
		}
	}
}

// TestServersWithProblems: a server that lacks a variable is there, with a problem that names
// the variable and shows no value.
func TestServersWithProblems(t *testing.T) {
	t.Parallel()
	list, _ := serversOf(t, `
[mcp.a]
command = ["p", "${NONE}", "${NEITHER}", "${NONE}"]
[mcp.b]
url = "${EVIL}"
headers.A = "b"
[mcp.c]
url = "https://a.example.com"
headers.A = "${LINES}"
[mcp.d]
url = "https://a.example.com"
auth = { client_id = "me", client_secret_env = "NONE" }
[mcp.e]
command = "${EMPTY}"
[mcp.f]
command = ["p", "${NUL}"]
[mcp.g]
command = "p"
`, `{"mcpServers": {"h": {"command": "p", "args": ["${workspaceFolder}"]}}}`,
		map[string]string{"EVIL": "http://hush.example.com", "LINES": "hush\r\nB: c", "NUL": "hush\x00", "EMPTY": ""})
	want := map[string]string{
		"a": "the variables NONE, NEITHER are not set; set what is missing, or give a default: ${NONE:-default} (user, ",
		"b": "url, with its variables: it would send headers, variables or tokens in the clear",
		"c": "headers.A: its value holds a control character",
		"d": "auth: the variable NONE is not set, which holds the client's secret (user, ",
		"e": "command: with its variables it names no program",
		"f": "command: a variable holds a NUL",
		"h": "the variable workspaceFolder is not set; set what is missing, or give a default: ${workspaceFolder:-default} (project, ",
	}
	for i := range list {
		problem := ""
		if err := list[i].Problem; err != nil {
			problem = err.Error()
		}
		if !strings.Contains(problem, want[list[i].Name]) || (problem == "") != (want[list[i].Name] == "") || strings.Contains(problem, "hush") {
			t.Errorf("%s: %q", list[i].Name, problem)
		}
	}
}
