//go:build unix

package history_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
)

// die kills the process, as if from outside.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Hour) // until it is dead
}

// moments are what the victim does until it is killed. It writes "second".
var moments = map[string]func(s *history.Store, dir, path string){
	"before the record": func(_ *history.Store, _, path string) { look(path) },
	"within the record": func(s *history.Store, dir, path string) {
		log := filepath.Join(dir, "log.jsonl")
		was, _ := os.ReadFile(log)
		record(s, path, look(path))
		now, err := os.ReadFile(log)
		if err == nil {
			err = os.Truncate(log, int64(len(was)+(len(now)-len(was))/2))
		}
		fail(err)
	},
	"before the swap": func(s *history.Store, _, path string) { record(s, path, look(path)) },
	"after the swap": func(s *history.Store, _, path string) {
		record(s, path, look(path))
		fail(os.WriteFile(path, []byte("second"), 0o600))
	},
	"overtaken": func(s *history.Store, _, path string) {
		was := look(path)
		fmt.Println("looked")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		record(s, path, was)
	},
	"restoring, before the swap": func(s *history.Store, _, path string) {
		history.AtMoment(s, func(string) { die() })
		restore(s, path)
	},
	"restoring, after the swap": func(s *history.Store, _, path string) {
		history.AtMoment(s, func(moment string) {
			if moment == "done" {
				die()
			}
		})
		restore(s, path)
	},
	"restoring, with the file aside": func(s *history.Store, _, path string) {
		history.AtMoment(s, func(string) {
			fail(os.Rename(path, filepath.Join(filepath.Dir(path), ".toolquay-aside")))
			die()
		})
		restore(s, path)
	},
}

func fail(err error) {
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
}

// look reads a file; nil is none.
func look(path string) []byte {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	fail(err)
	return text
}

// record tells the history that "second" is about to be written.
func record(s *history.Store, path string, was []byte) {
	w := capability.Write{Call: capability.Call{ID: "victim"}, Path: path, AfterHash: sha256.Sum256([]byte("second")), AfterSize: 6}
	if was != nil {
		w.Before, w.BeforeSize, w.Mode = strings.NewReader(string(was)), int64(len(was)), 0o600
	}
	_, err := s.Keep(context.Background(), w)
	fail(err)
}

func restore(s *history.Store, path string) {
	_, err := s.Restore(context.Background(), history.Selection{Path: path}, history.RestoreOptions{})
	fail(err)
}

// killedAt has a process do something, and kill itself at a moment of it. Before it goes
// on after its look, meanwhile is done.
func (r *room) killedAt(moment, name string, meanwhile func()) {
	r.tb.Helper()
	cmd := exec.CommandContext(r.tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+r.kept+"\n"+r.path(name)+"\n"+moment)
	in, err := cmd.StdinPipe()
	if err != nil {
		r.tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.tb.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() != "looked" {
			r.tb.Errorf("the victim: %s", lines.Text())
			continue
		}
		meanwhile()
		_, _ = io.WriteString(in, "\n")
	}
	_ = cmd.Wait() // it was killed
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		r.tb.Errorf("the victim ended with %v", cmd.ProcessState)
	}
}

// TestKilledAt kills a process at each moment of a write and of a restoring: what the
// history then says is true, and all of it is undone, and that as well. The table is in
// the documentation of the package.
func TestKilledAt(t *testing.T) {
	t.Parallel()
	write := func(name, content string) func(*room) { return func(r *room) { r.do("c", name, content) } }
	nothing := func(*room) {}
	for name, test := range map[string]struct {
		moment        string
		first         string // what the file is at first
		before, after func(*room)
		says          string
		now           string // what the file is when it says so
		undone, again string // what restoring all says, and what undoing that says
	}{
		"write 1":          {"before the record", "first", nothing, nothing, "", "first", "nothing", ""},
		"write 2":          {"within the record", "first", nothing, nothing, "", "first", "nothing", ""},
		"write 2, then on": {"within the record", "first", nothing, write("a", "third"), "h1 write c a: 5>5 done", "third", "a h2", "a h3"},
		"write 3":          {"before the swap", "first", nothing, nothing, "h1 write victim a: 5>6 not done", "first", "", ""},
		"write 3, made":    {"before the swap", "-", nothing, nothing, "h1 write victim a: ->6 not done", "-", "", ""},
		"write 3, then on": {"before the swap", "first", nothing, write("a", "third"), "h1 write victim a: 5>6 not done\nh2 write c a: 5>5 done", "third", "a h3", "a h4"},
		"write 3, again":   {"before the swap", "first", nothing, write("a", "second"), "h1 write victim a: 5>6 not done\nh2 write c a: 5>6 done", "second", "a h3", "a h4"},
		"write 3, edited":  {"before the swap", "first", nothing, func(r *room) { r.put("a", "mine") }, "h1 write victim a: 5>6 changed since", "mine", "a: something else changed it since", ""},
		"write 4":          {"after the swap", "first", nothing, nothing, "h1 write victim a: 5>6 done", "second", "a h2", "a h3"},
		"write 4, made":    {"after the swap", "-", nothing, nothing, "h1 write victim a: ->6 done", "second", "a h2", "a h3"},
		"write 4, then on": {"after the swap", "first", nothing, write("a", "third"), "h1 write victim a: 5>6 done\nh2 write c a: 6>5 done", "third", "a h3", "a h4"},
		"write 4, edited":  {"after the swap", "first", nothing, func(r *room) { r.put("a", "mine") }, "h1 write victim a: 5>6 changed since", "mine", "a: something else changed it since", ""},
		"write 5":          {"overtaken", "first", nothing, nothing, "h1 write other a: 5>9 done\nh2 write victim a: 5>6 not done", "overtaken", "a h3", "a h4"},
		"write 5, then on": {"overtaken", "first", nothing, write("a", "third"), "h1 write other a: 5>9 done\nh2 write victim a: 5>6 not done\nh3 write c a: 9>5 done", "third", "a h4", "a h5"},
		"restore 1":        {"restoring, before the swap", "first", write("a", "third"), nothing, "h1 write c a: 5>5 done\nh2 restore restore-h2 file a a: 5>5 not done", "third", "a h3", "a h4"},
		"restore 1, made":  {"restoring, before the swap", "-", write("a", "third"), nothing, "h1 write c a: ->5 done\nh2 restore restore-h2 file a a: 5>- not done", "third", "a h3", "a h4"},
		"restore 2":        {"restoring, after the swap", "first", write("a", "third"), nothing, "h1 write c a: 5>5 done\nh2 restore restore-h2 file a a: 5>5 done", "first", "a same", "a h3"},
		"restore 2, made":  {"restoring, after the swap", "-", write("a", "third"), nothing, "h1 write c a: ->5 done\nh2 restore restore-h2 file a a: 5>- done", "-", "a same", "a h3"},
		"restore 3, made":  {"restoring, with the file aside", "-", write("a", "third"), nothing, "h1 write c a: ->5 done\nh2 restore restore-h2 file a a: 5>- done", "-", "a same", "a h3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			r.have("a", test.first)
			test.before(r)
			r.killedAt(test.moment, "a", func() { r.do("other", "a", "overtaken") })
			test.after(r)
			r.Store = r.open(history.Options{})
			if got := strings.ReplaceAll(r.list(all), r.dir+"/", ""); got != test.says {
				t.Errorf("it says:\n%s\nwant:\n%s", got, test.says)
			}
			r.is("a", test.now)
			if test.undone == "nothing" {
				return
			}
			got := r.restore(all, history.RestoreOptions{})
			if got != test.undone {
				t.Errorf("restoring says %s", got)
			}
			if strings.Contains(got, ":") || got == "" {
				r.is("a", test.now)
				return
			}
			r.is("a", test.first)
			id := strings.TrimPrefix(strings.ReplaceAll(got, "same", "h2"), "a ")
			if got := r.restore(history.Selection{ID: id}, history.RestoreOptions{}); got != test.again {
				t.Errorf("undoing that says %s", got)
			}
			if strings.HasSuffix(got, "same") {
				r.is("a", "third")
			} else {
				r.is("a", test.now)
			}
		})
	}
}
