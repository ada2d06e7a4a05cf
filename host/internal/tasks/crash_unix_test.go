//go:build unix

package tasks_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// victim is the variable that makes the test binary the process that is killed: it holds
// the directory of sessions.
const victim = "TASKS_TEST_VICTIM"

// TestMain is the victim, where it is to be.
func TestMain(m *testing.M) {
	if parent := os.Getenv(victim); parent != "" {
		if err := beVictim(parent); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beVictim has tasks begin, be read and end, and says so when each is done. They are no
// more than may run: the kill may be late.
func beVictim(parent string) error {
	f, err := sessiondir.Open(parent, "s", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	r, err := tasks.Open(tasks.Options{Dir: f})
	if err != nil {
		return err
	}
	for i := range 3 * tasks.DefaultMaxRunning {
		output := filepath.Join(filepath.Dir(parent), fmt.Sprint("out-", i))
		if err := os.WriteFile(output, []byte("output"), 0o600); err != nil {
			return err
		}
		task, err := r.Begin(capability.NewTask{Kind: 'b', Title: strconv.Itoa(i), Output: output, Stop: func() {}})
		if err != nil {
			return err
		}
		fmt.Println("began", task.ID())
		if _, err := r.Read(context.Background(), task.ID(), capability.TaskRead{}); err != nil {
			return err
		}
		fmt.Println("shown", task.ID())
		if i%3 == 0 {
			continue // it runs until the end
		}
		task.End(capability.TaskOutcome{Exit: new(i)})
		fmt.Println("ended", task.ID())
	}
	return nil // as though it had been killed
}

// TestKilled kills a process that has tasks, at many moments. All that it said is known
// afterwards, and nothing is taken for what it is not.
func TestKilled(t *testing.T) {
	t.Parallel()
	for after := 1; after < 12; after++ {
		r := &room{TB: t, parent: filepath.Join(t.TempDir(), "sessions"), log: new(bytes.Buffer)}
		said := kill(t, r.parent, after)
		outside, err := tasks.Read(filepath.Join(r.parent, "s"))
		if err != nil {
			t.Fatal(err)
		}
		check(t, said, outside)
		r.open()
		check(t, said, r.List())
		for _, i := range r.List() {
			if text, err := os.ReadFile(i.Output); err != nil || string(text) != "output" {
				t.Errorf("the output of %s is %q, %v", i.ID, text, err)
			}
		}
		if err := r.folder.Close(); err != nil {
			t.Error(err)
		}
		if old := r.log.String(); old != "" && !strings.Contains(old, "not written to the end") {
			t.Errorf("it was told: %s", old)
		}
	}
}

// kill starts the victim, kills it when it has said so many things, and returns the last
// thing that it said of each task.
func kill(t *testing.T, parent string, after int) map[string]string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), victim+"="+parent)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(map[string]string)
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		what, id, _ := strings.Cut(lines.Text(), " ")
		if what == "failed" {
			t.Fatal(id)
		}
		if said[id] = what; n == after {
			_ = cmd.Process.Kill() // it may say more until it is dead
		}
	}
	_ = cmd.Wait() // it was killed
	if len(said) == 0 {
		t.Fatal("it said nothing")
	}
	return said
}

// check compares tasks with what was said of them: of the last one more may be known.
func check(t *testing.T, said map[string]string, list []tasks.Info) {
	t.Helper()
	if len(list) < len(said) || len(list) > len(said)+1 {
		t.Errorf("%d tasks are known, of %d", len(list), len(said))
	}
	for n, i := range list {
		last := n >= len(said)-1
		switch what := said[i.ID]; {
		case !i.Over():
			t.Errorf("%s runs", i.ID)
		case what == "ended" && (i.State == abi.TaskLost || *i.Exit != n):
			t.Errorf("%s had ended and is %s", i.ID, i.State)
		case what != "ended" && !last && i.State != abi.TaskLost:
			t.Errorf("%s ran and is %s", i.ID, i.State)
		case what == "shown" && i.Shown != 6:
			t.Errorf("%s was shown, and is not", i.ID)
		}
	}
}
