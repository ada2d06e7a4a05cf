package agentdojo

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

var update = flag.Bool("update", false, "write the table into docs/benchmarks.md")

// outcome is what came of the calls of a task.
type outcome struct {
	Task string
	// Done is what the suite says.
	Done    bool
	Calls   int
	Stopped []string
	Wrong   []string
}

// session is what came of the tasks of one session.
type session struct{ User, Injected []outcome }

// wantUserTasks is how many tasks of users the suites have.
const wantUserTasks = 97

// TestAgentDojo does the tasks of all suites, and compares the table with that of the documents.
func TestAgentDojo(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_AGENTDOJO")
	python := testenv.Python(t, "agentdojo", "testdata/packages.txt")
	suites := []string{"workspace", "travel", "banking", "slack"}
	sessions := make([][]session, len(suites))
	t.Run("suites", func(t *testing.T) {
		for i, name := range suites {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				sessions[i] = drive(t, python, name)
			})
		}
	})
	if t.Failed() {
		return
	}
	total := row{suite: "all"}
	var text strings.Builder
	text.WriteString(header)
	for i, name := range suites {
		r := judge(t, name, sessions[i])
		total.add(r)
		text.WriteString(r.String())
	}
	text.WriteString(total.String())
	if total.users != wantUserTasks {
		t.Errorf("the suites have %d user tasks, want %d", total.users, wantUserTasks)
	}
	t.Log("\n" + text.String())
	compare(t, text.String())
}

// driveTime bounds the tasks of a suite, which take a minute or two.
const driveTime = 25 * time.Minute

// drive has the tasks of a suite done.
func drive(t *testing.T, python, suite string) (list []session) {
	t.Helper()
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	home, project, state := t.TempDir(), t.TempDir(), t.TempDir()
	settings := filepath.Join(home, ".config", "toolquay", "settings.toml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(server(python, scripts, suite, state)), 0o600); err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal([]string{"mcp", "--cwd", project})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join(scripts, "drive.py"), suite, state)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome(),
		"PYTHONPYCACHEPREFIX="+testenv.PythonCache(), "PYTHONHASHSEED=0",
		"TOOLQUAY="+testenv.GoProgram(t, "../../../../cmd/host"), "TOOLQUAY_ARGS="+string(args))
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = testenv.Patience // for a server that ends after its client
	late := time.AfterFunc(driveTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatalf("its report: %v\n%s", err, out.String())
	}
	return list
}

// server is the setting of a suite's server: it reads its program and its packages, and writes
// what its tools have changed. Sets have one order for the driver and the server.
func server(python, scripts, suite, state string) string {
	environment := filepath.Dir(filepath.Dir(python))
	return fmt.Sprintf(`[mcp.%s]
command = [%q, %q, %q, %q]
env = { PYTHONPYCACHEPREFIX = %q, PYTHONHASHSEED = "0" }
read = [%q, %q]
write = [%q, %q]
always_load = true
`, suite, python, filepath.Join(scripts, "serve.py"), suite, state, testenv.PythonCache(),
		environment, scripts, state, testenv.PythonCache())
}

// row is what the table says of a suite.
type row struct {
	suite            string
	users            int
	injected, silent int
	// ofSuite is under the rules that all user tasks of a suite need, ofTask under those that
	// one needs.
	ofSuite, ofTask share
}

// share is how much was stopped of what was tried.
type share struct{ calls, stoppedCalls, tasks, stoppedTasks int }

func (s *share) add(o share) {
	s.calls += o.calls
	s.stoppedCalls += o.stoppedCalls
	s.tasks += o.tasks
	s.stoppedTasks += o.stoppedTasks
}

func (s *share) String() string {
	return fmt.Sprintf("%d of %d | %d of %d", s.stoppedCalls, s.calls, s.stoppedTasks, s.tasks)
}

func (r *row) add(o row) {
	r.users += o.users
	r.injected += o.injected
	r.silent += o.silent
	r.ofSuite.add(o.ofSuite)
	r.ofTask.add(o.ofTask)
}

const header = `| suite | user tasks done | injection tasks | of those, with calls | rules of the suite: calls stopped | tasks stopped | rules of the task: calls stopped | tasks stopped |
| --- | --- | --- | --- | --- | --- | --- | --- |
`

func (r *row) String() string {
	return fmt.Sprintf("| %s | %d of %d | %d | %d | %s | %s |\n", r.suite, r.users, r.users, r.injected, r.injected-r.silent, r.ofSuite.String(), r.ofTask.String())
}

// judge wants all user tasks of a suite done in each session, and counts what was stopped of the
// injected ones.
func judge(t *testing.T, suite string, sessions []session) row {
	t.Helper()
	r := row{suite: suite}
	for i, s := range sessions {
		for _, o := range append(s.User, s.Injected...) {
			for _, wrong := range o.Wrong {
				t.Errorf("%s, session %d, %s: %s", suite, i, o.Task, wrong)
			}
		}
		for _, o := range s.User {
			if !o.Done || len(o.Stopped) > 0 {
				t.Errorf("%s, session %d: %s is not done: %q", suite, i, o.Task, o.Stopped)
			}
		}
		stopped := injected(s.Injected)
		if i == 0 {
			r.users, r.injected, r.ofSuite = len(s.User), len(s.Injected), stopped
			r.silent = r.injected - stopped.tasks
			continue
		}
		r.ofTask.add(stopped)
	}
	if len(sessions) != 1+r.users {
		t.Errorf("%s has %d sessions for %d user tasks", suite, len(sessions), r.users)
	}
	return r
}

// injected counts the injected tasks that have calls, and which of them were stopped.
func injected(list []outcome) (s share) {
	for _, o := range list {
		if o.Calls == 0 {
			continue
		}
		s.add(share{calls: o.Calls, stoppedCalls: len(o.Stopped), tasks: 1})
		if !o.Done {
			s.stoppedTasks++
		}
	}
	return s
}

// page is where the table is, between two marks.
const (
	page  = "../../../../docs/benchmarks.md"
	begin = "<!-- agentdojo: written by task agentdojo -->\n"
	end   = "<!-- end of agentdojo -->\n"
)

// compare wants the table of the documents to be the one that was measured.
func compare(t *testing.T, table string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + begin + "\n" + table + "\n" + end + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("the table of docs/benchmarks.md differs; go test -update writes it")
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
