package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/hosttest"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestMain(m *testing.M) {
	host.Main()
	testenv.Waiting()
	os.Exit(m.Run())
}

// goCache is go's own cache. Commands write in it: with a new one each, they would compile the
// standard library for a minute.
func goCache(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), testenv.NeedTool(t, "go"), "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(dir))
}

// TestAgent plays the scripts, and wants what a user sees of each session in this order.
func TestAgent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scripts []*script
		shell   bool
		options func(o *host.Options, dir string) error
		want    map[string]string
	}{
		"plain": {plain(), false, nil, map[string]string{
			"notes":   "may Write run? notes.md\nWrite notes.md: done\nGrep milk: done\nRead notes.md: done\nIt is written down.\n",
			"letters": "may Write run? notes.md\nWrite notes.md: cancelled\ncancelled\nYou have changed your mind.\n",
		}},
		"shell": {withShell(), true, nil, map[string]string{
			"notes":   "may Bash run? echo Buy milk. > notes.md\nBash echo Buy milk. > notes.md: done\nBash grep milk notes.md: done\nBash wc -l notes.md: done\nIt is written down.\n",
			"letters": "may Bash run? touch begun && sleep 600\nBash touch begun && sleep 600: cancelled\ncancelled\nYou have changed your mind.\n",
		}},
		"plan": {planned(), false, withMessages, map[string]string{"report": `EnterPlanMode : done
Grep TODO: done
Write REPORT.md: denied
Which remarks belong in the report?
AskUserQuestion : done
Write PLAN.md: done
shall I follow this plan? 1. Collect the remarks of lex.go. 2. Check the report.
ExitPlanMode : done
task 1, pending: Collect the remarks
TaskCreate Collect the remarks: done
task 2, pending: Check the report
TaskCreate Check the report: done
task 2, pending: Check the report
TaskUpdate 2: done
task 1, in_progress: Collect the remarks
TaskUpdate 1: done
Grep TODO: done
Write REPORT.md: done
task 1, completed: Collect the remarks
TaskUpdate 1: done
task 2, in_progress: Check the report
TaskUpdate 2: done
Read REPORT.md: done
task 2, completed: Check the report
TaskUpdate 2: done
TaskList : done
tells you: The report is written.
SendUserMessage The report is written.: done
StructuredOutput : done
That is all.
{"remarks":4,"report":"REPORT.md"}
`}},
		"worktree": {mended(), true, withWorktrees, map[string]string{"mend": `Skill mend-test: done
may CronCreate run? * * * * *
CronCreate * * * * *: done
may EnterWorktree run? position
worktree entered: worktree/position
EnterWorktree position: done
may Bash run? go test -run TestPositionString .
Bash go test -run TestPositionString .: done
Grep in line %d: done
may Edit run? lex.go
Edit lex.go: done
may Bash run? go test -run TestPositionString .
Bash go test -run TestPositionString .: done
may Bash run? git commit -qam 'Mend TestPositionString'
Bash git commit -qam 'Mend TestPositionString': done
worktree kept: worktree/position
ExitWorktree keep: done
may EnterWorktree run? try
worktree entered: worktree/try
EnterWorktree try: done
may Write run? TRY.md
Write TRY.md: done
ExitWorktree remove: denied
may ExitWorktree run? remove
worktree removed: worktree/try
ExitWorktree remove: done
It is mended.
due: See whether the mended test was committed.
Bash git log -1 --format=%s worktree/position: done
It was committed.
`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := t.TempDir(), host.Options{Builtins: true}
			o.Storage.CacheDir = testenv.CompileCache()
			if test.options != nil {
				if err := test.options(&o, dir); err != nil {
					t.Fatal(err)
				}
			}
			if test.shell {
				testenv.NeedTool(t, "bwrap")
				testenv.NeedTool(t, "git")
				o.Shell = shellIn(dir)
				o.Shell.Sandbox.Writable = []string{goCache(t)}
			}
			var out strings.Builder
			if err := run(t.Context(), o, dir, test.scripts, &out); err != nil {
				t.Fatalf("%v in %s", err, out.String())
			}
			for session, want := range test.want {
				var got strings.Builder
				for line := range strings.Lines(out.String()) {
					if line, ok := strings.CutPrefix(line, session+": "); ok {
						got.WriteString(line)
					}
				}
				if got.String() != want {
					t.Errorf("%s: got\n%swant\n%s", session, got.String(), want)
				}
			}
		})
	}
}

// TestCallsStartEarly has a model write its second call when it has seen the first one's
// result.
func TestCallsStartEarly(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	second := hosttest.Use("Glob", input{"pattern": "*"}).Succeeds()
	second.After = seen
	model := hosttest.NewModel(
		hosttest.Say("", hosttest.Use("Read", input{"file_path": "none"}).Fails(abi.CodeNotFound), second),
		hosttest.Say("That is all."),
	)
	h, err := host.Open(t.Context(), host.Options{Builtins: true, Storage: host.StorageOptions{CacheDir: testenv.CompileCache()}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := Conversation{Session: s, Model: model, Show: func(e host.Event) {
		if e.Kind == host.EventResult && e.Index == 0 {
			close(seen)
		}
	}}
	text, err := c.Run(t.Context())
	if err := errors.Join(err, model.Err()); err != nil || text != "That is all." {
		t.Errorf("%q, %v", text, err)
	}
}
