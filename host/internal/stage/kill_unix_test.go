//go:build unix

package stage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// victim is the environment variable that makes the test binary the process that is killed. Its
// lines are the directories of the stage and of its history, and optionally the step at which the
// process kills itself and what it does.
const victim = "STAGE_TEST_VICTIM"

// TestMain runs the victim process if the variable is set. It prints each step, unless it counts
// them.
func TestMain(m *testing.M) {
	place := os.Getenv(victim)
	if place == "" {
		os.Exit(m.Run())
	}
	dir, past, _ := strings.Cut(place, "\n")
	past, at, counted := strings.Cut(past, "\n")
	at, what, _ := strings.Cut(at, "\n")
	s := stage.Open(dir, stage.Options{History: history.Open(past, history.Options{})})
	stage.AtMoment(s, func(moment string) { fmt.Println(moment) })
	if counted {
		s = dying(dir, past, at)
	}
	if err := does(s, what, filepath.Join(filepath.Dir(dir), "work")); err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// does is what the victim process does.
func does(s *stage.Store, what, work string) (err error) {
	switch what {
	case "put":
		if err = stageIn(s, filepath.Join(work, "a"), "newer"); err == nil {
			err = stageIn(s, filepath.Join(work, "deep/er/b"), "made")
		}
	case "discard":
		_, err = s.Discard(context.Background(), stage.Selection{})
	case "discard some":
		_, err = s.Discard(context.Background(), stage.Selection{Paths: []string{filepath.Join(work, "a"), filepath.Join(work, "d")}})
	case "apply with few descriptors":
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1024, Max: 1024})
		fallthrough
	default:
		_, e := s.Apply(context.Background(), stage.Selection{})
		err = errors.Join(err, e)
	}
	return err
}

// TestFewDescriptors applies more changes than the process has file descriptors for.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for i := range 300 {
		name := fmt.Sprintf("d%d/f", i)
		r.put(name, "old")
		r.stage(name, "new")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+r.dir+"\n"+filepath.Join(filepath.Dir(r.dir), "history")+"\n0\napply with few descriptors")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.Count(tree(t, r.work), "new"); got != 300 {
		t.Errorf("%d files are applied", got)
	}
}

// dying returns a stage whose process kills itself at the numbered step.
func dying(dir, past, at string) *stage.Store {
	left, err := strconv.Atoi(at)
	if err != nil {
		panic(err)
	}
	step := func() {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour) // until the signal arrives
		}
	}
	s := stage.Open(dir, stage.Options{History: &stepping{history.Open(past, history.Options{}), step}})
	stage.AtMoment(s, func(string) { step() })
	return s
}

// stepping is a history that counts each KeepAll as a step.
type stepping struct {
	*history.Store
	step func()
}

func (h *stepping) KeepAll(ctx context.Context, by capability.Call, list []changes.Change, before []io.Reader) ([]string, error) {
	ids, err := h.Store.KeepAll(ctx, by, list, before)
	h.step()
	return ids, err
}

// TestKilled kills a process while it applies. Every file then has its former or its staged
// content, the other changes stay staged, applying again completes them, also if a file was
// staged again meanwhile, and everything can be undone.
func TestKilled(t *testing.T) {
	t.Parallel()
	const files = 12
	for after := 2; after < files+2; after += 2 { // the first step is that all changes are announced
		r := newRoom(t)
		big := strings.Repeat("new ", 50_000)
		for i := range files {
			name := fmt.Sprintf("d/f%02d", i)
			if i%3 != 0 {
				r.put(name, "old")
			}
			r.stage(name, big)
		}
		before := tree(t, r.work)
		r.killed(after)
		r.Store = r.open(r.history)
		left := " " + stagedNames(t, r) + " "
		for i := range files {
			path := r.path(fmt.Sprintf("d/f%02d", i))
			text, err := os.ReadFile(path)
			isOld := i%3 == 0 && err != nil || string(text) == "old"
			switch isNew := string(text) == big; {
			case !isOld && !isNew:
				t.Errorf("after %d: %s is a mix of %d bytes, %v", after, path, len(text), err)
			case isOld && !strings.Contains(left, " "+path+" "):
				t.Errorf("after %d: %s is neither applied nor staged", after, path)
			}
		}
		if after%4 == 0 {
			big = strings.Repeat("newer ", 50_000)
			for i := range files {
				r.stage(fmt.Sprintf("d/f%02d", i), big)
			}
		}
		if stagedNames(t, r) != "" { // it may have been done before it was killed
			if _, err := r.Apply(t.Context(), everything); err != nil {
				t.Fatalf("after %d: %v", after, err)
			}
		}
		r.clean()
		if n := strings.Count(tree(t, r.work), big); n != files {
			t.Errorf("after %d: %d files are applied", after, n)
		}
		if _, err := r.history.Restore(t.Context(), history.Selection{}, history.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		r.clean()
		if got := tree(t, r.work); got != before {
			t.Errorf("after %d: undone it is\n%s", after, got)
		}
	}
}

// killed has a process apply, and kills it once it has begun with so many files.
func (r *room) killed(after int) {
	r.tb.Helper()
	cmd := exec.CommandContext(r.tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+r.dir+"\n"+filepath.Join(filepath.Dir(r.dir), "history"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.tb.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "failed") {
			r.tb.Errorf("the victim: %s", lines.Text())
		}
		if n++; n == after {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
}

// clean removes what a killed host may leave beside files.
func (r *room) clean() {
	left, _ := filepath.Glob(r.path("d/.toolquay-*"))
	for _, path := range left {
		_ = os.Remove(path)
	}
}
