//go:build unix

package history_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
)

// victim is the variable that makes the test binary the process that is killed: it
// holds the history's directory, the file's path, and the moment, if it is to end itself.
const victim = "HISTORY_TEST_VICTIM"

// TestMain is the victim, where it is to be: it keeps and writes a file for ever, and
// says what was kept and what was written.
func TestMain(m *testing.M) {
	place := os.Getenv(victim)
	if place == "" {
		os.Exit(m.Run())
	}
	dir, path, _ := strings.Cut(place, "\n")
	path, moment, alone := strings.Cut(path, "\n")
	s := history.Open(dir, history.Options{})
	if alone {
		if act := moments[moment]; act != nil {
			act(s, dir, path)
		} else {
			commandMoments[moment](s, dir, path)
		}
		die()
	}
	was := "0"
	for i := 1; ; i++ {
		now := strings.Repeat(strconv.Itoa(i%10), i*50)
		w := capability.Write{Path: path, Before: strings.NewReader(was), BeforeSize: int64(len(was)), Mode: 0o600}
		w.AfterHash, w.AfterSize = sha256.Sum256([]byte(now)), int64(len(now))
		id, err := s.Keep(context.Background(), w)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("kept", id)
		if err := os.WriteFile(path+".new", []byte(now), 0o600); err != nil {
			os.Exit(1)
		}
		if err := os.Rename(path+".new", path); err != nil {
			os.Exit(1)
		}
		fmt.Println("done", id)
		was = now
	}
}

// TestKilled kills a process while it writes, and finds all that it had kept: of the
// last write it is seen whether it was done, and all of them can be undone.
func TestKilled(t *testing.T) {
	t.Parallel()
	for after := range 6 {
		r := newRoom(t, history.Options{})
		r.put("a", "0")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), victim+"="+r.kept+"\n"+r.path("a"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		kept, n := 0, 0
		for lines.Scan() {
			if bytes.HasPrefix(lines.Bytes(), []byte("kept h")) {
				kept++
			}
			if n++; n == 5+3*after {
				_ = cmd.Process.Kill() // it may say more until it is dead
			}
		}
		_ = cmd.Wait() // it was killed
		changes, err := r.List(t.Context(), all)
		if err != nil || len(changes) < kept || len(changes) > kept+1 || kept == 0 {
			t.Fatalf("it said %d times that it kept, and %d are kept, %v", kept, len(changes), err)
		}
		for i, c := range changes {
			if c.State == history.StateChanged || c.State == history.StateNotDone && i < len(changes)-1 {
				t.Errorf("%s of %d is %s", c.ID, len(changes), c.State)
			}
		}
		r.restore(all, history.RestoreOptions{})
		r.is("a", "0")
	}
}

// TestNotDone is the crash between the record and the write.
func TestNotDone(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", "first")
	r.keep("c1", "a", "never")
	r.keep("c1", "new", "never")
	const want = "h1 write c1 a: 5>5 not done\nh2 write c1 new: ->5 not done"
	if got := r.list(all); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	r.do("c2", "a", "second")
	if got := r.list(history.Selection{Path: r.path("a")}); got != "h1 write c1 a: 5>5 not done\nh3 write c2 a: 5>6 done" {
		t.Errorf("got:\n%s", got)
	}
}
