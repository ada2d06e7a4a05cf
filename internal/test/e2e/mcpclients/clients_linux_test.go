package mcpclients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// client is a client with a session in a script of testdata.
type client struct {
	script string
	// by is what runs it.
	by func(*testing.T) string
	// asks says that the server can ask the client's person, and cancels that the client
	// tells the server when it gives a call up.
	asks, cancels bool
}

// TestClients has a session with each client.
func TestClients(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_MCP_CLIENTS")
	installAll(t)
	for name, c := range map[string]client{
		"FastMCP":       {"python/use_fastmcp.py", modern, true, true},
		"Pydantic AI":   {"python/use_pydantic_ai.py", modern, true, true},
		"OpenAI Agents": {"python/use_openai_agents.py", classic, false, false},
		"LangChain":     {"python/use_langchain.py", classic, true, false},
		"AI SDK":        {"node/use_ai_sdk.mjs", node, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			c.judge(t, p, p.session(t, c.by(t), c.script))
			p.awaitEnd(t)
		})
	}
}

// report is what the script of a client saw.
type report struct {
	Tools   []string
	Asked   []string
	Results [][]string
	Again   string
	After   string
}

const (
	high = "the tide is high"
	low  = "the tide is low"
)

// judge holds a session to what the client can do.
func (c client) judge(t *testing.T, p *project, r report) {
	t.Helper()
	for _, name := range []string{"Bash", "Edit", "Glob", "Grep", "Read", "Write"} {
		if !slices.Contains(r.Tools, name) {
			t.Errorf("it has no tool %s: %q", name, r.Tools)
		}
	}
	if len(r.Results) != 4 {
		t.Fatalf("its model had results of %d messages, want 4: %q", len(r.Results), r.Results)
	}
	contains(t, "a call", r.Results[0], high)
	contains(t, "calls at once", r.Results[1], "a.txt", low, high)
	contains(t, "a write that a rule denies", r.Results[2], "the deny rule Edit(./secret.txt)")
	if _, err := os.Stat(p.path("secret.txt")); err == nil {
		t.Error("secret.txt was written against a rule")
	}
	written, err := os.ReadFile(p.path("new.txt"))
	if c.asks {
		contains(t, "an approved write", r.Results[3], "new.txt")
		contains(t, "the question", r.Asked, "new.txt")
		if string(written) != "written\n" {
			t.Errorf("new.txt has %q, %v", written, err)
		}
	} else {
		contains(t, "a write with nobody to ask", r.Results[3], "It needs the allow rule Edit(/"+p.path("new.txt")+")")
		if err == nil {
			t.Errorf("new.txt was written without a word: %q", written)
		}
	}
	// What was shown in the same session counts as known.
	for what, text := range map[string]string{"after a call that was given up": r.After, "in a second connection": r.Again} {
		if !strings.Contains(text, high) && !strings.Contains(text, "a.txt has not changed") {
			t.Errorf("a call %s says %q", what, text)
		}
	}
}

// contains wants one text for each result, in its place.
func contains(t *testing.T, what string, results []string, want ...string) {
	t.Helper()
	if len(results) != len(want) {
		t.Errorf("%s: %d results, want %d: %q", what, len(results), len(want), results)
		return
	}
	for i := range want {
		if !strings.Contains(results[i], want[i]) {
			t.Errorf("%s: result %d is %q, want %q in it", what, i+1, results[i], want[i])
		}
	}
}

// TestInspector has the Inspector's command line list the tools and call them, in both revisions.
// It fails itself where a schema is not portable.
func TestInspector(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_MCP_CLIENTS")
	installAll(t)
	run, p := node(t), newProject(t)
	inspector, err := filepath.Abs("testdata/node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"modern", "legacy"} {
		ask := func(fails bool, args ...string) string {
			t.Helper()
			line := slices.Concat([]string{inspector, "--cli", "--protocol-era", era}, args, []string{"--", p.command}, p.args)
			out, err := p.run(t, run, line...)
			if (err != nil) != fails {
				t.Errorf("%s, %q: %v", era, args, err)
			}
			return out
		}
		contains(t, era, []string{ask(false, "--method", "tools/list", "--strict")}, `"name": "Grep"`)
		call := []string{"--method", "tools/call", "--tool-name"}
		contains(t, era, []string{ask(false, append(call, "Read", "--tool-arg", "file_path=a.txt")...)}, high)
		contains(t, era, []string{ask(true, append(call, "Write", "--tool-arg", "file_path=secret.txt", "--tool-arg", "content=x")...)}, "the deny rule Edit(./secret.txt)")
	}
	p.awaitEnd(t)
}

// project is a directory that a client works in, and how it starts the server.
type project struct {
	dir, home, command string
	args               []string
	// lasting is a command that goes on until its call is cancelled.
	lasting string
}

func newProject(t *testing.T) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{dir: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"), command: testenv.GoProgram(t, "../../../../cmd/host")}
	for _, d := range []string{p.dir, p.home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.txt": high, "b.txt": low} {
		if err := os.WriteFile(p.path(name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.lasting = "tail -f " + p.path("b.txt")
	p.args = []string{"mcp", "--cwd", p.dir, "--deny", "Edit(./secret.txt)", "--allow", "Bash(tail:*)"}
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, name) }

// sessionTime bounds a session, which takes some seconds.
const sessionTime = 2 * time.Minute

// session runs a script and returns what it saw.
func (p *project) session(t *testing.T, interpreter, script string) (r report) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out, err := p.run(t, interpreter, path)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("its report: %v\n%s", err, out)
	}
	t.Logf("%d tools, %d questions, %.1f s", len(r.Tools), len(r.Asked), time.Since(start).Seconds())
	return r
}

// run runs a program in the project, with its own home, and returns its standard output.
func (p *project) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	line, err := json.Marshal(p.args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome(),
		"PYTHONPYCACHEPREFIX="+testenv.PythonCache(), "TOOLQUAY="+p.command, "TOOLQUAY_ARGS="+string(line), "TOOLQUAY_LASTING="+p.lasting)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = testenv.Patience // for a server that ends after its client
	late := time.AfterFunc(sessionTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s", filepath.Base(args[0]), err, said.String())
	}
	return out.String(), nil
}

// awaitEnd waits until no server of the project runs, nor a command of one.
func (p *project) awaitEnd(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(testenv.Patience)
	for {
		left := processes(p.dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running: %q", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// processes are the command lines that name a directory.
func processes(dir string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(dir)) {
			list = append(list, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return list
}
