package shell_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(testenv.Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// signal makes the file that commands of these tests wait for.
func (s *session) signal(name string) {
	s.tb.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o600); err != nil {
		s.tb.Fatal(err)
	}
}

// waits is a command that waits for a file.
func waits(name string) string { return "until [ -e " + name + " ]; do read -t 0.01 <> <(:); done; " }

func content(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBackgroundTasks(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	r := s.run(c, abi.ShellArgs{Command: "echo one; " + waits("go") + "echo two >&2; exit 3", Background: true, Description: "Two words"})
	if r.Task != "b12345678" || r.Background != abi.BackgroundAsked || r.OutputFile == "" {
		t.Fatalf("got %+v", r)
	}
	task := <-s.begun
	if task.Kind != 'b' || task.Title != "Two words" || task.Output != r.OutputFile || task.Call.ID != "call" || !strings.HasPrefix(task.Command, "echo one") {
		t.Errorf("began %+v", task.NewTask)
	}
	eventually(t, "the output can be followed", func() bool { return content(t, r.OutputFile) == "one\n" })
	s.signal("go")
	o := task.outcome(t)
	if o.Exit == nil || *o.Exit != 3 || o.Killed || o.Reason != "" || content(t, r.OutputFile) != "one\ntwo\n" {
		t.Errorf("got %+v", o)
	}
}

func TestBackgroundTasksAreStopped(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	s.run(c, abi.ShellArgs{Command: "trap '' TERM; setsid sleep 100 & sleep 100", Background: true})
	task := <-s.begun
	task.Stop()
	task.Stop()
	if o := task.outcome(t); !o.Killed {
		t.Errorf("got %+v", o)
	}
}

func TestBackgroundTasksAreBounded(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t, func(o *shell.Options) { o.MaxOutput = 1 << 20 })
	r := s.run(c, abi.ShellArgs{Command: "yes", Background: true})
	o := (<-s.begun).outcome(t)
	if info, err := os.Stat(r.OutputFile); err != nil || info.Size() != 1<<20 || !strings.Contains(o.Reason, "wrote more than 1") {
		t.Errorf("got %+v, %+v, %v", o, info, err)
	}
}

func TestCommandsMoveAtTheirLimit(t *testing.T) {
	t.Parallel()
	eventually(t, "a command moves when it has begun", func() bool {
		s, c := newSession(t), newShell(t)
		r := s.run(c, abi.ShellArgs{Command: "echo one; " + waits("go") + "echo two", Timeout: 1000})
		if r.Background != abi.BackgroundTimeout || r.Timeout != 1000 || r.TimedOut || r.Task == "" {
			t.Fatalf("got %+v", r)
		}
		s.signal("go")
		task := <-s.begun
		if task.Shown != int64(len(r.out)) || time.Since(task.Began) < time.Second {
			t.Errorf("began %+v", task.NewTask)
		}
		if o := task.outcome(t); o.Exit == nil || *o.Exit != 0 || content(t, r.OutputFile) != "one\ntwo\n" {
			t.Errorf("got %+v", o)
		}
		return r.out == "one\n"
	})
	s, c := newSession(t), newShell(t)
	if r := s.run(c, abi.ShellArgs{Command: "sleep 100", Timeout: 100}); !r.TimedOut || r.Task != "" {
		t.Errorf("a bare sleep: got %+v", r)
	}
	s.refuse = errors.New("enough of them")
	r := s.run(c, abi.ShellArgs{Command: "tail -f /dev/null", Timeout: 100})
	if !r.TimedOut || r.Task != "" || !strings.Contains(r.Note, "enough of them") {
		t.Errorf("with no more tasks: got %+v", r)
	}
	if _, err := s.try(t.Context(), c, abi.ShellArgs{Command: "tail -f /dev/null", Background: true}); !errors.Is(err, s.refuse) {
		t.Errorf("with no more tasks: got %v", err)
	}
}

func TestCommandsMoveOnABudget(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t, kills, func(o *shell.Options) { o.Time.Budget = 100 * time.Millisecond })
	r := s.bash(c, waits("go")+"echo over")
	if r.Background != abi.BackgroundBudget || r.Task == "" {
		t.Fatalf("got %+v", r)
	}
	s.signal("go")
	if o := (<-s.begun).outcome(t); o.Exit == nil || content(t, r.OutputFile) != "over\n" {
		t.Errorf("got %+v", o)
	}
}

func TestPersonsMoveCommands(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	if c.Background(tasks{s: s}, "call") {
		t.Error("what does not run was moved")
	}
	go func() {
		for !c.Background(tasks{s: s}, "call") {
			time.Sleep(time.Millisecond)
		}
	}()
	r := s.bash(c, "sleep 100 & "+waits("go")+"true")
	if r.Background != abi.BackgroundPerson || r.Task == "" {
		t.Fatalf("got %+v", r)
	}
	s.signal("go")
	if o := (<-s.begun).outcome(t); o.Exit == nil || *o.Exit != 0 || o.Left == 0 {
		t.Errorf("got %+v", o)
	}
	if c.Background(tasks{s: s}, "call") {
		t.Error("what has ended was moved")
	}
}

// What a model was shown it is not shown again: but for a code point that was only half
// there, and an output of which something was left out.
func TestTasksKnowWhatWasShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, command  string
		separate       bool
		written, shown int64
	}{
		{"nothing", "", false, 0, 0},
		{"half a code point", `printf 'one\n\xc3'; `, false, 5, 4},
		{"no text", `printf '\xff\xfe\n'; `, false, 3, 3},
		{"in a file", "head -c 16000 /dev/zero; ", false, 16_000, 16_000},
		{"cut", "head -c 1000000 /dev/zero; ", false, 1_000_000, 0},
		{"apart", "echo one; echo two >&2; ", true, 8, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eventually(t, "a command moves when all that it wrote was read", func() bool {
				s, c := newSession(t), newShell(t)
				r, task := s.moved(c, abi.ShellArgs{Command: test.command + ": >written; " + waits("go"), Separate: test.separate})
				if r.Bytes == test.written && task.Shown != test.shown || task.Shown > r.Bytes || task.Began.IsZero() {
					t.Errorf("of %d bytes: began %+v", r.Bytes, task.NewTask)
				}
				return r.Bytes == test.written
			})
		})
	}
}

// moved runs a command that makes the file written and then waits for go, and moves it to
// the background in between.
func (s *session) moved(c *shell.Capability, args abi.ShellArgs) (result, *task) {
	s.tb.Helper()
	go func() {
		for end := time.Now().Add(testenv.Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(s.dir, "written")); err == nil && c.Background(tasks{s: s}, "call") {
				return
			}
		}
	}()
	r := s.run(c, args)
	task := <-s.begun
	s.signal("go")
	task.outcome(s.tb)
	return r, task
}
