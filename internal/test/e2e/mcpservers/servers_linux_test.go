package mcpservers

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// world is a project with settings that name servers.
type world struct {
	dir, home, command string
	// known replaces names in settings, calls and what is wanted.
	known *strings.Replacer
}

// Paths of the installed servers.
const (
	filesystem = "testdata/node/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
	everything = "testdata/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
)

// newWorld makes a project, and settings of its user.
func newWorld(t *testing.T, settings string, more ...string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{dir: filepath.Join(root, "project"), home: filepath.Join(root, "home"), command: testenv.GoProgram(t, "../../../../cmd/host")}
	w.known = strings.NewReplacer(append([]string{"$DIR", w.dir, "$NODE", absolute(t, "testdata/node/node_modules/.bin/node"), "$FILES", absolute(t, filesystem), "$EVERYTHING", absolute(t, everything)}, more...)...)
	for name, text := range map[string]string{"project/docs/a.txt": "the tide is high\n", "project/other/b.txt": "the tide is low\n", "home/.config/toolquay/settings.toml": w.known.Replace(settings)} {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	must(t, err)
	return abs
}

// step is one call.
type step struct {
	tool, input string
	flags       []string
	// code is how the command ends, and want what is in its output. Not is not there.
	code      int
	want, not string
	// absent is a file that the call must not make, and present one that it must, with a content.
	absent, present, content string
}

// The exit codes of toolquay call.
const (
	failed = 1
	denied = 4
)

// run carries out steps, one after the other.
func (w *world) run(t *testing.T, steps map[string]step) {
	t.Helper()
	for name, s := range steps {
		t.Run(name, func(t *testing.T) {
			out, code := w.toolquay(t, append([]string{"call", "--approval", "never"}, append(s.flags, s.tool, w.known.Replace(s.input))...)...)
			if want := w.known.Replace(s.want); code != s.code || !strings.Contains(out, want) || s.not != "" && strings.Contains(out, s.not) {
				t.Errorf("it ends with %d, not %d, and says, not %q:\n%s", code, s.code, want, out)
			}
			if _, err := os.Lstat(filepath.Join(w.dir, s.absent)); s.absent != "" && err == nil {
				t.Errorf("%s is there", s.absent)
			}
			if s.present != "" {
				if got, err := os.ReadFile(filepath.Join(w.dir, s.present)); err != nil || !strings.Contains(string(got), s.content) {
					t.Errorf("%s has %q: %v", s.present, got, err)
				}
			}
		})
	}
}

// toolquay runs the command, and returns what it printed and how it ended.
func (w *world) toolquay(t *testing.T, args ...string) (string, int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), w.command, args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "HOME="+w.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome())
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	late := time.AfterFunc(testenv.Patience, func() { _ = c.Process.Kill() })
	defer late.Stop()
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok && err != nil || ok && exit.ExitCode() < 0 {
		t.Fatalf("%q: %v\n%s", args, err, out.String())
	}
	return out.String(), c.ProcessState.ExitCode()
}

// install installs what all servers need, side by side.
func install(t *testing.T) (python string) {
	t.Helper()
	testenv.SkipUnlessAsked(t, "TOOLQUAY_MCP_SERVERS")
	const dir = "testdata/node"
	testenv.Install(t, dir+"/package-lock.json", dir+"/node_modules/.installed", [][]string{
		{testenv.NeedTool(t, "npm"), "ci", "--no-audit", "--no-fund", "--prefix", dir},
	})
	python = testenv.Python(t, "mcp-servers", filepath.Join("testdata", "python", "servers.txt"))
	// What a program sees of its packages it cannot write: they are compiled here, once.
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import mcp_server_git, mcp_server_fetch").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return python
}

// TestFiles has the reference server for files in its allowances.
func TestFiles(t *testing.T) {
	install(t)
	w := newWorld(t, `
[permissions]
allow = ["mcp__files__read_text_file", "mcp__files__write_file", "mcp__files__list_allowed_directories", "mcp__files__get_file_info"]
deny = ["mcp__files__move_file"]
[mcp.files]
command = ["$NODE", "$FILES", "$DIR/docs", "$DIR/other"]
write = ["$DIR/docs"]
read = ["$DIR/other"]
`)
	w.run(t, map[string]step{
		"allowed":          {tool: "mcp__files__read_text_file", input: `{"path":"$DIR/docs/a.txt"}`, want: "the tide is high"},
		"structured":       {tool: "mcp__files__read_text_file", input: `{"path":"$DIR/docs/a.txt"}`, flags: []string{"-o", "json"}, want: `"the tide is high`},
		"a write":          {tool: "mcp__files__write_file", input: `{"path":"$DIR/docs/new.txt","content":"new"}`, want: "Successfully wrote", present: "docs/new.txt", content: "new"},
		"denied":           {tool: "mcp__files__move_file", input: `{"source":"$DIR/docs/a.txt","destination":"$DIR/docs/c.txt"}`, code: denied, want: "mcp__files__move_file", absent: "docs/c.txt"},
		"asked":            {tool: "mcp__files__create_directory", input: `{"path":"$DIR/docs/d"}`, code: denied, want: "the allow rule mcp__files__create_directory", absent: "docs/d"},
		"hints are claims": {tool: "mcp__files__list_directory", input: `{"path":"$DIR/docs"}`, code: denied, want: "the allow rule mcp__files__list_directory"},
		"a read-only path": {tool: "mcp__files__write_file", input: `{"path":"$DIR/other/new.txt","content":"new"}`, code: failed, want: "EROFS", absent: "other/new.txt"},
		"outside":          {tool: "mcp__files__get_file_info", input: `{"path":"/etc/hostname"}`, code: failed, want: "outside allowed directories"},
		"a protected file": {tool: "mcp__files__write_file", input: `{"path":"$DIR/docs/.mcp.json","content":"{}"}`, absent: "docs/.mcp.json"},
	})
}

// TestGit has the reference server for git work in one repository.
func TestGit(t *testing.T) {
	python := install(t)
	w := newWorld(t, `
[permissions]
allow = ["mcp__git"]
deny = ["mcp__git__git_reset"]
[mcp.git]
command = ["$PYTHON", "-m", "mcp_server_git", "--repository", "$DIR"]
env = {GIT_AUTHOR_NAME = "A", GIT_AUTHOR_EMAIL = "a@example.com", GIT_COMMITTER_NAME = "A", GIT_COMMITTER_EMAIL = "a@example.com"}
write = ["$DIR"]
[mcp.blind]
command = ["$PYTHON", "-m", "mcp_server_git"]
`, "$PYTHON", python)
	out, err := exec.CommandContext(t.Context(), testenv.NeedTool(t, "git"), "-C", w.dir, "init", "-q").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range []map[string]step{
		{"status": {tool: "mcp__git__git_status", input: `{"repo_path":"$DIR"}`, want: "docs/"}},
		{"add": {tool: "mcp__git__git_add", input: `{"repo_path":"$DIR","files":["docs/a.txt"]}`, want: "staged"}},
		{"commit": {tool: "mcp__git__git_commit", input: `{"repo_path":"$DIR","message":"Add a tide"}`, want: "committed"}},
		{
			"log":    {tool: "mcp__git__git_log", input: `{"repo_path":"$DIR"}`, want: "Add a tide"},
			"denied": {tool: "mcp__git__git_reset", input: `{"repo_path":"$DIR"}`, code: denied, want: "mcp__git__git_reset"},
			// It sees no repository that it was not allowed.
			"unseen": {tool: "mcp__blind__git_log", input: `{"repo_path":"$DIR"}`, flags: []string{"--allow", "mcp__blind"}, code: failed, not: "Add a tide"},
		},
	} {
		w.run(t, s)
	}
}

// TestFetch has the reference server for fetching reach one host of this machine, and no other.
func TestFetch(t *testing.T) {
	python := install(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html><body><article><p>the tide turns at six</p></article></body></html>")
	}))
	defer site.Close()
	w := newWorld(t, `
[permissions]
allow = ["mcp__web", "mcp__none"]
[mcp.web]
command = ["sh", "-c", "exec $PYTHON -m mcp_server_fetch --ignore-robots-txt --allow-private-ips --proxy-url $http_proxy"]
read = ["$VENV"]
network = ["127.0.0.1"]
[mcp.none]
command = ["sh", "-c", "exec $PYTHON -m mcp_server_fetch --ignore-robots-txt --allow-private-ips --proxy-url $http_proxy"]
read = ["$VENV"]
`, "$PYTHON", python, "$VENV", filepath.Dir(filepath.Dir(python)), "$SITE", site.URL, "$PORT", site.URL[strings.LastIndex(site.URL, ":"):])
	w.run(t, map[string]step{
		"allowed":      {tool: "mcp__web__fetch", input: `{"url":"$SITE","raw":true}`, want: "the tide turns at six"},
		"another host": {tool: "mcp__web__fetch", input: `{"url":"http://127.0.0.2$PORT","raw":true}`, code: failed, not: "the tide turns"},
		"no host":      {tool: "mcp__none__fetch", input: `{"url":"$SITE","raw":true}`, code: failed, not: "the tide turns"},
		"a denied one": {tool: "mcp__web__fetch", input: `{"url":"$SITE","raw":true}`, flags: []string{"--deny", "WebFetch(domain:127.0.0.1)"}, code: failed, not: "the tide turns"},
	})
}

// everythingSteps are what the reference server for everything does, however it is reached.
var everythingSteps = map[string]step{
	"echo":       {tool: "mcp__all__echo", input: `{"message":"hello"}`, want: "Echo: hello"},
	"structured": {tool: "mcp__all__get-structured-content", input: `{"location":"New York"}`, flags: []string{"-o", "json"}, want: `"temperature"`},
	"an image":   {tool: "mcp__all__get-tiny-image", input: `{}`, flags: []string{"-o", "json"}, want: "image/png"},
	"progress":   {tool: "mcp__all__trigger-long-running-operation", input: `{"duration":1,"steps":4}`, flags: []string{"-v"}, want: "Long running operation completed"},
	"cancelled":  {tool: "mcp__all__trigger-long-running-operation", input: `{"duration":50,"steps":4}`, flags: []string{"--timeout", "1s"}, code: failed, not: "completed"},
	"resources":  {tool: "ListMcpResources", input: `{"server":"all"}`, want: "architecture.md"},
	"a resource": {tool: "ReadMcpResource", input: `{"server":"all","uri":"demo://resource/static/document/architecture.md"}`, want: "Everything Server"},
	"bad input":  {tool: "mcp__all__get-sum", input: `{"a":"x"}`, code: failed, want: "mcp__all__get-sum"},
	"asked":      {tool: "mcp__all__get-env", input: `{}`, flags: []string{"--ask", "mcp__all__get-env"}, code: denied, want: "mcp__all__get-env"},
}

// TestEverything has the reference server for everything as a program, which gets no variables
// but its own.
func TestEverything(t *testing.T) {
	install(t)
	t.Setenv("TOOLQUAY_TEST_SECRET", "4711-marker")
	w := newWorld(t, `
[permissions]
allow = ["mcp__all", "ListMcpResources", "ReadMcpResource"]
[mcp.all]
command = ["$NODE", "$EVERYTHING", "stdio"]
env = {GIVEN = "given"}
`)
	w.run(t, everythingSteps)
	w.run(t, map[string]step{"environment": {tool: "mcp__all__get-env", input: `{}`, want: `"GIVEN": "given"`, not: "4711-marker"}})
}

// TestEverythingOverHTTP has it serve on a port.
func TestEverythingOverHTTP(t *testing.T) {
	install(t)
	port := freePort(t)
	w := newWorld(t, `
[permissions]
allow = ["mcp__all", "ListMcpResources", "ReadMcpResource"]
[mcp.all]
url = "http://127.0.0.1:`+port+`/mcp"
`)
	c := exec.CommandContext(t.Context(), absolute(t, "testdata/node/node_modules/.bin/node"), absolute(t, everything), "streamableHttp")
	c.Env = append(os.Environ(), "PORT="+port)
	must(t, c.Start())
	defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	for end := time.Now().Add(testenv.Patience); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			must(t, conn.Close())
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	w.run(t, everythingSteps)
}

// freePort is a port that nobody listens on now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, errors.Join(err, l.Close()))
	return port
}

// TestExamples has the examples of the SDK for Go.
func TestExamples(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_MCP_SERVERS")
	var settings strings.Builder
	settings.WriteString("[permissions]\nallow = [\"mcp__hello\", \"mcp__memory\", \"mcp__everything\", \"mcp__sequentialthinking\", \"mcp__toolschemas\", \"ReadMcpResource\"]\n")
	dir := t.TempDir()
	for _, name := range []string{"hello", "memory", "everything", "sequentialthinking", "toolschemas"} {
		program := filepath.Join(dir, name)
		build := exec.CommandContext(t.Context(), testenv.NeedTool(t, "go"), "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/examples/server/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		args := ""
		if name == "memory" {
			args = `, "-memory", "$DIR/docs/memory.json"`
		}
		fmt.Fprintf(&settings, "[mcp.%s]\ncommand = [%q%s]\n", name, program, args)
		if name == "memory" {
			settings.WriteString("write = [\"$DIR/docs\"]\n")
		}
	}
	w := newWorld(t, settings.String())
	w.run(t, map[string]step{
		"hello":      {tool: "mcp__hello__greet", input: `{"name":"Ann"}`, want: "Hi Ann"},
		"memory":     {tool: "mcp__memory__create_entities", input: `{"entities":[{"name":"tide","entityType":"thing","observations":["high"]}]}`, want: "created", present: "docs/memory.json", content: "tide"},
		"thinking":   {tool: "mcp__sequentialthinking__start_thinking", input: `{"problem":"tides"}`, want: "tides"},
		"structured": {tool: "mcp__everything__greet__structured_", input: `{"name":"Ann"}`, flags: []string{"-o", "json"}, want: `"message":"Hi Ann"`},
		"a link":     {tool: "mcp__everything__greet__content_with_ResourceLink_", input: `{"name":"Ann"}`, want: "data:text/plain,Hi%20Ann"},
		"a ping":     {tool: "mcp__everything__ping", input: `{}`},
		"sampling":   {tool: "mcp__everything__sample", input: `{}`, code: failed, want: "sampling"},
		"a question": {tool: "mcp__everything__elicit__form_", input: `{}`, code: failed, not: "accept"},
		"a resource": {tool: "ReadMcpResource", input: `{"server":"everything","uri":"embedded:info"}`, want: "hello example server"},
		"a schema":   {tool: "mcp__toolschemas__manual_greeting", input: `{"name":"Ann"}`, want: "Ann"},
	})
}
