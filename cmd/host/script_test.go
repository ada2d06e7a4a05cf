package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/extism"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

func TestMain(m *testing.M) {
	host.Main(extism.New) // the command starts this binary for its workers
	testscript.Main(waiting{m}, map[string]func(){"toolquay": main, "mcpserver": testServer})
}

// waiting is the tests of this package, not the command that this binary is as well.
type waiting struct{ *testing.M }

func (w waiting) Run() int {
	testenv.Waiting()
	return w.M.Run()
}

// TestScripts runs the command as people do. Every script has a home of its own;
// the compile cache is shared, unless a script says otherwise.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script")
}

// TestShellScripts runs the scripts that need a shell and what goes with it.
func TestShellScripts(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "sh")
	testenv.NeedTool(t, "sleep")
	testenv.NeedTool(t, "git")
	runScripts(t, "testdata/shell")
}

// TestThoroughScripts runs those that take long and find little that others do not.
func TestThoroughScripts(t *testing.T) {
	t.Parallel()
	testenv.SkipUnlessThorough(t)
	testenv.NeedTool(t, "bash")
	testenv.NeedTool(t, "bwrap")
	runScripts(t, "testdata/thorough")
}

// heedSignals has the programs of scripts begin with the signals that they are sent,
// also where this process ignores some, as under nohup: those go on being ignored in
// what it starts, and no shell can change that. A signal that is handled does not.
func heedSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// runScripts runs the scripts of a folder.
func runScripts(t *testing.T, folder string) {
	t.Helper()
	heedSignals()
	fixtures, err := filepath.Abs("../../plugins/direct/testdata")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	guests, err := filepath.Abs("testdata/guests")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 folder,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		// [!thorough] stop leaves the rest of a script to CI, which is like much before it.
		Condition: func(cond string) (bool, error) {
			if cond != "thorough" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return testenv.Thorough(), nil
		},
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for _, v := range []string{
				"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/config", "XDG_STATE_HOME=" + home + "/state",
				"XDG_CACHE_HOME=" + testenv.CacheHome(), "FIXTURES=" + fixtures, "GUESTS=" + guests, "ROOT=" + root, "NO_COLOR=", "TERM=xterm",
				// Under the race detector every process would sleep a second before it ends.
				"GORACE=atexit_sleep_ms=0",
			} {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			e.Values[collectorKey{}] = &[]*receiver{}
			testenv.AwaitForks() // the script may run what was written for it
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "id": id, "person": person, "fixture": fixture, "nested": nested, "fill": fill, "matches": matches,
			"collector": startCollector, "collected": collected, "keep": keep,
			"told": told, "dialog": dialog, "bulk": bulk, "wrote": wrote, "whiteout": whiteout,
		},
	})
}

// exits CODE PROGRAM [ARG...] runs a program that must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [arg...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", args[1], got, want)
	}
}

// id NAME PROGRAM [ARG...] runs a program and sets the variable to the last id in its output.
func id(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: id name program [arg...]")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	found := regexp.MustCompile(`(?s).*"id":"([A-Z0-9]+)"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("no id in the output")
	}
	ts.Setenv(args[0], found[1])
}

// keep form|url ANSWER asks a tool's question in a program that embeds the host and keeps
// questions for later. It must have that answer: later, or what was said.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	q := host.Question{
		ID: rand.Text(), Session: "s", Binding: "b", Call: "c1", Tool: "Deploy", Input: json.RawMessage(`{}`), Cwd: ts.Getenv("WORK"), Asked: time.Now(),
		Plugin: "ops",
	}
	switch {
	case len(args) == 2 && args[0] == "form":
		q.Kind, q.Form = host.QuestionForm, &host.Form{Message: "Where to?", Schema: json.RawMessage(
			`{"type":"object","required":["place"],"properties":{"place":{"type":"string","title":"The place","enum":["here","there"]},"count":{"type":"integer","default":1}}}`)}
	case len(args) == 2 && args[0] == "url":
		q.Kind, q.URL = host.QuestionURL, &host.URLQuestion{Message: "Sign in", URL: "https://example.com/in"}
	default:
		ts.Fatalf("usage: keep form|url answer")
	}
	store, err := approvals.OpenStore(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "toolquay", "approvals"), approvals.Options{})
	ts.Check(err)
	reply, err := approvals.NewDurable(store, approvals.Resume{}).Ask(context.Background(), q)
	ts.Check(err)
	if got := strings.TrimSpace(fmt.Sprint(reply.Answer, " ", string(reply.Content), reply.Message)); neg || got != args[1] {
		ts.Fatalf("the answer is %s", got)
	}
}

const fixtureSchema = `{"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}`

// fixture MODULE DIR NAME [CAPABILITY...] makes a folder plugin of a module of
// the direct ABI's tests. Its one tool is called like the plugin, with a capital.
func fixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: fixture module dir name [capability...]")
	}
	name := args[2]
	module, err := os.ReadFile(filepath.Join(ts.Getenv("FIXTURES"), args[0]+".wasm"))
	ts.Check(err)
	var manifest strings.Builder
	fmt.Fprintf(&manifest, "manifest = 1\nname = %q\nversion = \"1.0.0\"\ndescription = \"A fixture\"\n\n", name)
	for _, capability := range args[3:] {
		fmt.Fprintf(&manifest, "[[capabilities]]\nname = %q\nreason = \"the test asks for it\"\n\n", capability)
	}
	fmt.Fprintf(&manifest, "[limits]\ntime = \"60s\"\n\n[[tools]]\nname = %q\nsummary = \"A fixture\"\ninput_schema = '%s'\n",
		strings.ToUpper(name[:1])+name[1:], fixtureSchema)
	dir := ts.MkAbs(filepath.Join(args[1], name))
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "plugin.toml"), []byte(manifest.String()), 0o644))
	ts.Check(os.WriteFile(filepath.Join(dir, name+".wasm"), module, 0o644))
}

// nested FILE DEPTH writes JSON nested that deep.
func nested(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nested file depth")
	}
	depth, err := strconv.Atoi(args[1])
	ts.Check(err)
	doc := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(doc), 0o644))
}

// fill FILE BYTES writes a JSON list with one string, of that many bytes in all.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill file bytes")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	doc := append([]byte(`["`), bytes.Repeat([]byte("x"), size-4)...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(doc, `"]`...), 0o644))
}

// matches PATTERN says that there are files whose names match, or with ! none.
func matches(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] matches pattern")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if neg == (len(found) > 0) {
		ts.Fatalf("%s matches %q", args[0], found)
	}
}
