//go:build unix

package cron_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/cron"
)

// victim makes the test binary a process of a project: the directory of stores, what it is to do,
// and what with.
const victim = "CRON_TEST_VICTIM"

// noon is when the processes run.
var noon = time.Date(2026, 6, 1, 12, 0, 30, 0, time.UTC)

func TestMain(m *testing.M) {
	job, is := os.LookupEnv(victim)
	if !is {
		os.Exit(m.Run())
	}
	parts := strings.Split(job, "\n")
	if err := work[parts[1]](parts[0], parts[2]); err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
}

// process are the jobs of a process whose clock stands, and dies at a step.
func process(dir, step string, now func() time.Time) *cron.Jobs {
	log := slog.New(slog.DiscardHandler)
	store := cron.NewStore(dir, "/project", log)
	cron.AtStep(store, func(at string) {
		if at == step {
			die()
		}
	})
	return cron.New(cron.Options{Store: store, Now: now, Zone: time.UTC, Logger: log}).Open(mainAgent)
}

// die kills the process, as if from outside.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Hour) // until it is dead
}

var work = map[string]func(dir, with string) error{
	"create": func(dir, step string) error {
		_, _, err := process(dir, step, func() time.Time { return noon }).For(mainAgent).Do(context.Background(), &abi.CronArgs{
			Do: abi.CronCreate, Cron: "* * * * *", Prompt: "victim's", Recurring: true, Durable: true,
		}, time.Time{})
		return err
	},
	"tell": func(dir, step string) error {
		takeDue(process(dir, step, func() time.Time { return noon.Add(2 * time.Minute) }), func(p capability.DuePrompt) {
			fmt.Println(p.Prompt, p.Due.Format("15:04"))
			if step == "while it is told" {
				die()
			}
		})
		return nil
	},
	"hammer": func(dir, _ string) error {
		for i := range 60 {
			now := noon.Add(time.Duration(i) * time.Minute)
			takeDue(process(dir, "", func() time.Time { return now }), func(p capability.DuePrompt) { fmt.Println(p.ID, p.Due.Format("15:04")) })
		}
		return nil
	},
}

// start starts a process that does something.
func start(t *testing.T, dir, what, with string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), victim+"="+dir+"\n"+what+"\n"+with)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// lines are what a process says, until it ends.
func lines(s *bufio.Scanner) (all []string) {
	for s.Scan() {
		all = append(all, s.Text())
	}
	return all
}

// TestKilledAt kills a process between any two steps. What came due is told at least once, and
// twice only where nobody can know whether it was, which is then said.
func TestKilledAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ step, said, then string }{
		{"before it is written that it came due", "", "12:01 missed"},
		{"after it is written that it came due", "", "12:01 missed again"},
		{"while it is told", "victim's 12:01", "12:01 missed again"},
		{"before it is written that it was told", "victim's 12:01", "12:01 missed again"},
		{"after it is written that it was told", "victim's 12:01", ""},
	} {
		for _, recurring := range []bool{true, false} {
			t.Run(fmt.Sprint(c.step, recurring), func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "cron")
				now := noon
				jobs := process(dir, "", func() time.Time { return now })
				args := abi.CronArgs{Do: abi.CronCreate, Cron: "* * * * *", Prompt: "victim's", Recurring: recurring, Durable: true}
				if _, _, err := jobs.For(mainAgent).Do(t.Context(), &args, time.Time{}); err != nil {
					t.Fatal(err)
				}
				cmd, out := start(t, dir, "tell", c.step)
				if said := strings.Join(lines(out), "\n"); said != c.said {
					t.Errorf("the victim said %q", said)
				}
				if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
					t.Errorf("the victim: %v", err)
				}
				due := func() (all string) {
					takeDue(jobs, func(p capability.DuePrompt) {
						all += p.Due.Format("15:04")
						if p.Missed {
							all += " missed"
						}
						if p.Again {
							all += " again"
						}
					})
					return all
				}
				now = noon.Add(2*time.Minute + 10*time.Second)
				if got := due(); got != c.then {
					t.Errorf("then comes %q, want %q", got, c.then)
				}
				now = now.Add(time.Minute)
				want := ""
				if recurring {
					want = "12:03"
				}
				if got := due(); got != want {
					t.Errorf("a minute later comes %q, want %q", got, want)
				}
			})
		}
	}
}

// A process that is killed while it makes a job made all of it, or nothing.
func TestKilledMaking(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]int{"before it is made": 0, "after it is made": 1} {
		dir := filepath.Join(t.TempDir(), "cron")
		cmd, _ := start(t, dir, "create", step)
		if err := cmd.Wait(); err == nil {
			t.Error("the victim lives")
		}
		if jobs, notes, err := cron.Read(dir, "/project"); len(jobs) != want || len(notes) != 0 || err != nil {
			t.Errorf("%s: %v, %q, %v", step, jobs, notes, err)
		}
	}
}

// Of processes that look at the same jobs, each at its own pace, one tells what comes due, while
// others are killed at any time.
func TestProcesses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cron")
	jobs := process(dir, "", func() time.Time { return noon })
	for _, line := range []string{"* * * * *", "*/2 * * * *", "*/3 * * * *"} {
		if _, _, err := jobs.For(mainAgent).Do(t.Context(), &abi.CronArgs{Do: abi.CronCreate, Cron: line, Prompt: "x", Recurring: true, Durable: true}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	var cmds []*exec.Cmd
	var outs []*bufio.Scanner
	for range 3 {
		cmd, out := start(t, dir, "hammer", "")
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	for range 5 {
		cmd, out := start(t, dir, "hammer", "")
		out.Scan() // it is at work
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	var told []string
	for i, out := range outs {
		told = append(told, lines(out)...)
		if err := cmds[i].Wait(); err != nil {
			t.Errorf("%v", err)
		}
	}
	slices.Sort(told)
	if n := len(told); n < 20 || len(slices.Compact(slices.Clone(told))) != n {
		t.Errorf("%d were told: %q", n, told)
	}
	if jobs, notes, err := cron.Read(dir, "/project"); len(jobs) != 3 || len(notes) != 0 || err != nil {
		t.Errorf("%v, %q, %v", jobs, notes, err)
	}
}
