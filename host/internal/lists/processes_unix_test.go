//go:build unix

package lists_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/lists"
)

// victim makes the test binary a process of a list: its directory, what it is to do, and
// what with. It says the ids that it was given.
const victim = "LISTS_TEST_VICTIM"

func TestMain(m *testing.M) {
	job, is := os.LookupEnv(victim)
	if !is {
		os.Exit(m.Run())
	}
	parts := strings.Split(job, "\n")
	list := lists.NewTasks(placeOf(parts[0]), slog.New(slog.DiscardHandler))
	if err := jobs[parts[1]](list, parts[2]); err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
}

var jobs = map[string]func(list *lists.Tasks, with string) error{
	"hammer": func(list *lists.Tasks, who string) error {
		for i := range 30 {
			task, err := list.Create(context.Background(), &abi.WorkChange{Subject: &who}, nil)
			if err != nil {
				return err
			}
			fmt.Println(task.ID)
			key := map[string]jsonText{who + strconv.Itoa(i): jsonText("1")}
			if _, err := list.Update(context.Background(), "1", &abi.WorkChange{Metadata: key}, who, nil); err != nil {
				return err
			}
			if i%2 == 1 {
				if _, err := list.Update(context.Background(), task.ID, &abi.WorkChange{Status: new(abi.WorkDeleted)}, who, nil); err != nil {
					return err
				}
			}
		}
		return nil
	},
	"create": func(list *lists.Tasks, step string) error {
		dieAt(list, step)
		_, err := list.Create(context.Background(), &abi.WorkChange{Subject: new("victim's")}, nil)
		return err
	},
	"create with a hook": func(list *lists.Tasks, step string) error {
		dieAt(list, step)
		_, err := list.Create(context.Background(), &abi.WorkChange{Subject: new("victim's")}, func(context.Context, abi.WorkItem) error {
			if step == "in the hook" {
				die()
			}
			return nil
		})
		return err
	},
	"update": func(list *lists.Tasks, step string) error {
		dieAt(list, step)
		change := abi.WorkChange{Subject: new("changed"), AddBlocks: []string{"3"}}
		_, err := list.Update(context.Background(), "2", &change, "main", nil)
		return err
	},
	"delete the last": func(list *lists.Tasks, step string) error {
		dieAt(list, step)
		_, err := list.Update(context.Background(), "3", &abi.WorkChange{Status: new(abi.WorkDeleted)}, "main", nil)
		return err
	},
	"go on": func(list *lists.Tasks, _ string) error {
		for i := 0; ; i++ {
			task, err := list.Create(context.Background(), &abi.WorkChange{Subject: new("x")}, nil)
			if err != nil {
				return err
			}
			fmt.Println(task.ID)
			change := abi.WorkChange{Subject: new("y"), AddBlockedBy: []string{"1"}}
			if i%2 == 1 {
				change = abi.WorkChange{Status: new(abi.WorkDeleted)}
			}
			if _, err := list.Update(context.Background(), task.ID, &change, "main", nil); err != nil {
				return err
			}
		}
	},
}

// die kills the process, as if from outside.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Hour) // until it is dead
}

func dieAt(list *lists.Tasks, step string) {
	lists.AtStep(list, func(at string) {
		if at == step {
			die()
		}
	})
}

// start starts a process that does a job.
func (r *room) start(job, with string) (*exec.Cmd, *bufio.Scanner) {
	r.Helper()
	self, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	cmd := exec.CommandContext(r.Context(), self)
	cmd.Env = append(os.Environ(), victim+"="+r.dir+"\n"+job+"\n"+with)
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// Two processes at once lose no update, and no id is given twice.
func TestProcesses(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("first")
	var ids []string
	var running []*exec.Cmd
	var said []*bufio.Scanner
	for _, who := range []string{"a", "b"} {
		cmd, lines := r.start("hammer", who)
		running, said = append(running, cmd), append(said, lines)
	}
	for i, cmd := range running {
		for said[i].Scan() {
			ids = append(ids, said[i].Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %q", err, ids)
		}
	}
	checkHammered(r, ids, 60)
}

// TestKilledAt kills a process between any two steps of each change. What is there then is
// whole, and the next process goes on from it.
func TestKilledAt(t *testing.T) {
	t.Parallel()
	const before = "1 a pending  [] []\n2 b pending  [] []\n3 c pending  [] []"
	const (
		made    = before + "\n4 victim's pending  [] []"
		updated = "1 a pending  [] []\n2 changed pending  [3] []\n3 c pending  [] [2]"
		deleted = "1 a pending  [] []\n2 b pending  [] []"
	)
	for _, test := range []struct {
		job, step, is string
		next          string // the number of the next task
	}{
		{"create", "before the write", before, "4"},
		{"create", "after the write", made, "5"},
		{"create", "before numbers are given up", made, "5"},
		{"create with a hook", "before the number is taken", before, "4"},
		{"create with a hook", "after the number is taken", before, "5"},
		{"create with a hook", "in the hook", before, "5"},
		{"create with a hook", "before the write", before, "5"},
		{"create with a hook", "after the write", made, "5"},
		{"create with a hook", "before numbers are given up", made, "5"},
		{"update", "before the write", before, "4"},
		{"update", "after the write", updated, "4"},
		{"delete the last", "before the number is taken", before, "4"},
		{"delete the last", "after the number is taken", before, "4"},
		{"delete the last", "before the removal", before, "4"},
		{"delete the last", "after the removal", deleted, "4"},
	} {
		t.Run(test.job+", "+test.step, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			r.create("a", "b", "c")
			r.killed(test.job, test.step)
			if got := r.all(); got != test.is {
				t.Errorf("it is\n%s\nwant\n%s", got, test.is)
			}
			task, err := r.Create(t.Context(), &abi.WorkChange{Subject: new("next")}, nil)
			if err != nil || task.ID != test.next {
				t.Errorf("the next is %s, %v; want %s", task.ID, err, test.next)
			}
			if got, want := r.all(), test.is+"\n"+test.next+" next pending  [] []"; got != want {
				t.Errorf("it is\n%s\nwant\n%s", got, want)
			}
			if i := slices.IndexFunc(r.files(), func(name string) bool { return strings.HasPrefix(name, ".tmp-") || strings.HasSuffix(name, ".gone") }); i >= 0 {
				t.Errorf("left over: %q", r.files())
			}
		})
	}
}

// killed has a process do a job that kills it.
func (r *room) killed(job, with string) {
	r.Helper()
	cmd, said := r.start(job, with)
	for said.Scan() {
		r.Errorf("the victim: %s", said.Text())
	}
	_ = cmd.Wait() // it was killed
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		r.Errorf("the victim ended with %v", cmd.ProcessState)
	}
}

// TestKilledAnywhere kills processes from outside while they go on, in the midst of files.
// All that they were told is there or deleted, and no number comes twice.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("first")
	given := map[string]bool{"1": true}
	for round := 1; round <= 8; round++ {
		cmd, said := r.start("go on", "")
		for range 2 + round {
			if !said.Scan() {
				t.Fatalf("it ended: %v", cmd.Wait())
			}
			if id := said.Text(); given[id] {
				t.Errorf("%s was given twice", id)
			} else {
				given[id] = true
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for said.Scan() { // what it still said
			if given[said.Text()] {
				t.Errorf("%s was given twice", said.Text())
			}
			given[said.Text()] = true
		}
		_ = cmd.Wait() // it was killed
		l, err := r.All(t.Context())
		if err != nil || len(l.Notes) > 0 {
			t.Fatalf("%v, %v", l.Notes, err)
		}
		for i := range l.Tasks {
			// One may be there that the process did not get to say.
			given[l.Tasks[i].ID] = true
			if l.Tasks[i].Subject == "y" && !slices.Equal(l.Tasks[i].BlockedBy, []string{"1"}) {
				t.Errorf("half a change: %+v", l.Tasks[i])
			}
		}
	}
	if r.log.Len() > 0 {
		t.Errorf("it was told: %s", r.log.String())
	}
}
