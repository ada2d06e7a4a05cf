package history_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/internal/testenv"
)

// command is a fake command that reports each change before it makes it.
type command struct {
	*room
	w capability.CommandWatch
}

func (r *room) command(call string) *command {
	return &command{r, r.Watch(capability.Call{ID: call, Tool: "Bash"}, []string{r.dir})}
}

func (c *command) write(name, content string) {
	c.tb.Helper()
	c.w.Touch(c.path(name), false)
	c.check(os.WriteFile(c.path(name), []byte(content), 0o600))
}

func (c *command) remove(name string) {
	c.tb.Helper()
	c.w.Touch(c.path(name), false)
	c.check(os.Remove(c.path(name)))
}

func (c *command) mkdir(name string) {
	c.tb.Helper()
	c.w.Touch(c.path(name), true)
	c.check(os.Mkdir(c.path(name), 0o700))
}

func (c *command) move(from, to string) {
	c.tb.Helper()
	c.w.Rename(c.path(from), c.path(to), false)
	c.check(os.Rename(c.path(from), c.path(to)))
}

func (c *command) check(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}

// end ends the watch, and returns what is not kept.
func (c *command) end() string {
	c.tb.Helper()
	return strings.ReplaceAll(c.w.End(c.tb.Context()), c.dir+"/", "")
}

// tree lists what is in the room.
func (r *room) tree() string {
	r.tb.Helper()
	var out []string
	err := filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == r.dir {
			return err
		}
		what := "/"
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = "=" + string(content)
		}
		out = append(out, strings.TrimPrefix(path, r.dir+"/")+what)
		return nil
	})
	if err != nil {
		r.tb.Fatal(err)
	}
	return strings.Join(out, " ")
}

// undone restores a selection, and lists what is in the room then.
func (r *room) undone(sel history.Selection) string {
	r.tb.Helper()
	if _, err := r.Restore(r.tb.Context(), sel, history.RestoreOptions{}); err != nil {
		return err.Error()
	}
	return r.tree()
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(c *command){
		"written":            func(c *command) { c.write("a", "2"); c.write("new", "3") },
		"written twice":      func(c *command) { c.write("a", "2"); c.write("a", "3"); c.remove("a"); c.write("a", "4") },
		"removed":            func(c *command) { c.remove("a"); c.remove("d/b"); c.remove("d/e/c"); c.remove("d/e"); c.remove("d") },
		"moved":              func(c *command) { c.move("a", "z") },
		"moved over":         func(c *command) { c.move("a", "d/b") },
		"moved there and on": func(c *command) { c.move("a", "y"); c.move("y", "z"); c.write("z", "2") },
		"saved":              func(c *command) { c.write("tmp", "2"); c.move("tmp", "a") },
		"a directory moved":  func(c *command) { c.move("d", "z") },
		"moved and changed": func(c *command) {
			c.move("d", "z")
			c.write("z/b", "2")
			c.move("z", "y")
			c.remove("y/e/c")
			c.mkdir("d")
			c.write("d/b", "5")
		},
		"moved there and back": func(c *command) { c.move("d", "z"); c.move("z", "d"); c.write("a", "2") },
		"a move that failed":   func(c *command) { c.w.Rename(c.path("d"), c.path("none/d"), false); c.write("d/b", "2") },
		"exchanged": func(c *command) {
			c.w.Rename(c.path("a"), c.path("d"), true)
			c.check(unix.Renameat2(unix.AT_FDCWD, c.path("a"), unix.AT_FDCWD, c.path("d"), unix.RENAME_EXCHANGE))
			c.write("d", "2")
			c.write("a/b", "3")
		},
		"written by another name": func(c *command) {
			c.w.Link(c.path("a"), c.path("l"))
			c.check(os.Link(c.path("a"), c.path("l")))
			c.write("l", "2")
		},
		"moved, with a link left": func(c *command) {
			c.move("d", "z")
			c.w.Touch(c.path("d"), true)
			c.check(os.Symlink("z", c.path("d")))
			c.write("z/b", "2")
		},
		"other kinds": func(c *command) {
			c.remove("a")
			c.mkdir("a")
			c.write("a/f", "1")
			c.remove("d/b")
			c.w.Touch(c.path("d/b"), true)
			c.check(os.Symlink("x", c.path("d/b")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			r.put("a", "1")
			r.put("d/b", "b")
			r.put("d/e/c", "c")
			before := r.tree()
			c := r.command("c1")
			act(c)
			if gaps := c.end(); gaps != "" {
				t.Error(gaps)
			}
			after := r.tree()
			if entries, _ := filepath.Glob(r.kept + "/watch-*"); len(entries) > 0 {
				t.Errorf("it left %v", entries)
			}
			r.Store = r.open(history.Options{})
			undone, err := r.Restore(t.Context(), history.Selection{Call: "c1"}, history.RestoreOptions{})
			if got := r.tree(); err != nil || got != before {
				t.Fatalf("undone: %s; want %s; %v\n%s", got, before, err, r.list(all))
			}
			if got := r.undone(history.Selection{Call: undone[len(undone)-1].Call}); got != after {
				t.Errorf("that undone: %s; want %s", got, after)
			}
		})
	}
}

// TestLeftByAKill restores when an earlier restore was killed while it removed a file, which has a
// temporary name since. With the file's directory, that file is removed too, but no other.
func TestLeftByAKill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, tree string }{
		"the removed file":   {"1", ""},
		"another one's file": {"mine", "n/ n/left=mine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			by := r.command("c1")
			by.mkdir("n")
			by.write("n/a", "1")
			by.end()
			if got := r.undone(all); got != "" {
				t.Fatalf("undone: %s", got)
			}
			left := workspace.TemporaryName("a")
			r.put("n/"+left, c.content)
			if got := strings.Replace(r.undone(all), left, "left", 1); got != c.tree {
				t.Errorf("undone again: %s", got)
			}
		})
	}
}

// TestManyMoved restores more moved files than fit in one batch, and undoes that.
func TestManyMoved(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	for i := range 200 {
		r.put(fmt.Sprint("d/", i), fmt.Sprint("it is ", i))
	}
	before := r.tree()
	first, err := os.Stat(r.path("d/7"))
	if err != nil {
		t.Fatal(err)
	}
	c := r.command("c1")
	c.move("d", "z")
	c.end()
	after := r.tree()
	if got := r.undone(history.Selection{Call: "c1"}); got != before {
		t.Errorf("undone: %s", got)
	}
	if now, err := os.Stat(r.path("d/7")); err != nil || !os.SameFile(first, now) {
		t.Errorf("it is another file: %v", err)
	}
	changes, err := r.List(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.undone(history.Selection{Call: changes[len(changes)-1].Call}); got != after {
		t.Errorf("that undone: %s", got)
	}
}

// TestNothingChanged: files that are unchanged in the end get no record, and a command that changes nothing leaves no file.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", "1")
	c := r.command("c1")
	if c.end() != "" {
		t.Error("the history lacks something")
	}
	if entries, err := os.ReadDir(r.kept); err != nil || len(entries) > 0 {
		t.Errorf("it wrote %v, %v", entries, err)
	}
	c = r.command("c2")
	c.write("a", "1")
	c.write("tmp", "2")
	c.remove("tmp")
	c.w.Touch(c.path("a"), true)
	c.w.Touch(c.path("none"), false)
	if got := c.end() + r.list(all); got != "" {
		t.Errorf("got %s", got)
	}
}

// TestFileOfCommand restores single files of a command.
func TestFileOfCommand(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("d/a", "1")
	r.put("d/b", "2")
	c := r.command("c1")
	c.move("d", "z")
	c.write("z/a", "3")
	c.end()
	if got := r.undone(history.Selection{Call: "c1", Path: r.path("d/b")}); got != "d/ d/b=2 z/ z/a=3 z/b=2" {
		t.Error(got)
	}
	r.put("z/a", "mine")
	if got := r.undone(history.Selection{Call: "c1", Path: r.path("z/a")}); !strings.Contains(got, "something else changed it since") {
		t.Error(got)
	}
	if got := r.undone(history.Selection{Call: "c1", Path: r.path("d/a")}); got != "d/ d/a=1 d/b=2 z/ z/a=mine z/b=2" {
		t.Error(got)
	}
}

func TestCommandGaps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		act  func(c *command)
		want string
	}{
		"left out":  {func(c *command) { c.mkdir("node_modules"); c.write("node_modules/f", "1"); c.write("a", "2") }, "node_modules (left out by history_except)"},
		"too large": {func(c *command) { c.write("large", "2"); c.write("a", "2") }, "large (its former content is over 64 MiB)"},
		"odd modes": {func(c *command) {
			c.w.Touch(c.path("a"), false)
			c.check(os.Chmod(c.path("a"), 0))
			c.w.Touch(c.path("large"), false)
			c.check(os.Chmod(c.path("large"), 0o600|os.ModeSetgid))
			c.mkdir("new")
			c.check(os.Chmod(c.path("new"), 0o700|os.ModeSticky))
		}, "a, large (its mode is kept only in part)"},
		"not known": {func(c *command) { c.w.Missed(errors.New("no reason")); c.write("a", "2") }, "no reason"},
		"unreadable": {func(c *command) {
			c.check(os.Remove(c.path("a")))
			c.check(unix.Mkfifo(c.path("a"), 0o600))
			c.remove("a")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			r.put("a", "1")
			r.put("large", "")
			if err := os.Truncate(r.path("large"), 64<<20+1); err != nil {
				t.Fatal(err)
			}
			c := r.command("c1")
			test.act(c)
			want := test.want
			if name == "left out" {
				want = ""
			} else if want != "" {
				want = "The history is not complete for this command: " + want + "."
			}
			if got := c.end(); got != want {
				t.Errorf("the history lacks %s; want %s", got, want)
			}
			changes, err := r.List(t.Context(), history.Selection{Call: "c1"})
			if err != nil || len(changes) < 1 {
				t.Fatal(changes, err)
			}
			if test.want != "" && !strings.Contains(fmt.Sprint(changes), test.want) && !strings.Contains(strings.ReplaceAll(changes[len(changes)-1].Gaps, r.dir+"/", ""), test.want) {
				t.Errorf("the list does not say it: %+v", changes)
			}
		})
	}
}

// TestCommandThatRuns: the changes of a running command are listed while it runs, and recorded when it ends or when its own
// host restores some of them.
func TestCommandThatRuns(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", "1")
	c := r.command("c1")
	c.write("a", "2")
	other := r.open(history.Options{})
	for _, s := range []*history.Store{other, r.Store} {
		changes, err := s.List(t.Context(), all)
		if err != nil || len(changes) != 1 || changes[0].State != history.StateRunning || changes[0].Call != "c1" || !changes[0].Kept {
			t.Fatalf("it sees %+v, %v", changes, err)
		}
		var patch strings.Builder
		if left, err := s.Patch(t.Context(), &patch, all, history.PatchOptions{Dir: r.dir}); err != nil || len(left) > 0 || !strings.Contains(patch.String(), "-1") {
			t.Errorf("the patch is %s, without %v, %v", &patch, left, err)
		}
	}
	if _, err := other.Restore(t.Context(), all, history.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("restoring while it runs: %v", err)
	}
	if got := r.undone(all); got != "a=1" {
		t.Errorf("its own host restores %s", got)
	}
	c.write("a", "3")
	c.write("b", "4")
	c.end()
	if got := r.undone(all); got != "a=1" {
		t.Error(got)
	}
}

// TestOpenWhileListed lists the changes while the command has a file open and goes on writing to it.
func TestOpenWhileListed(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("log", "0")
	c := r.command("c1")
	c.w.Touch(c.path("log"), false)
	f, err := os.OpenFile(c.path("log"), os.O_WRONLY|os.O_APPEND, 0)
	c.check(err)
	defer f.Close()
	for range 2 {
		if _, err := r.List(t.Context(), all); err != nil {
			t.Error(err)
		}
		_, err = f.WriteString("more")
		c.check(err)
	}
	c.end()
	if got := r.undone(history.Selection{Call: "c1"}); got != "log=0" {
		t.Error(got)
	}
}

// TestHostKilledWhileACommandRuns finds out later what the command changed.
func TestHostKilledWhileACommandRuns(t *testing.T) {
	t.Parallel()
	for moment, want := range map[string]string{
		"told": "d/ d/a=first", "changed": "d/ d/a=second", "moved": "d2/ d2/a=second", "recorded": "d/ d/a=second", "within a line": "d/ d/a=second",
	} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t, history.Options{})
			r.put("d/a", "first")
			r.killedAt(moment, "d/a", func() {})
			if got := r.tree(); got != want {
				t.Fatalf("it left %s; want %s", got, want)
			}
			r.Store = r.open(history.Options{})
			changes, err := r.List(t.Context(), all)
			if err != nil || len(changes) == 0 {
				t.Fatal(changes, err)
			}
			if got := r.undone(history.Selection{Call: "victim"}); got != "d/ d/a=first" && (moment != "told" || got != history.ErrNothing.Error()) {
				t.Errorf("undone: %s", got)
			}
			if entries, _ := filepath.Glob(r.kept + "/watch-*"); len(entries) > 0 {
				t.Errorf("it left %v", entries)
			}
		})
	}
}

// TestListedAtItsEnd: a command that ends while its ledger is being read is not taken for one whose host was killed.
func TestListedAtItsEnd(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", "1")
	c := r.command("c1")
	c.write("a", "2")
	other := r.open(history.Options{})
	history.AtMoment(other, func(moment string) {
		if moment == "ledger" {
			c.end()
		}
	})
	changes, err := other.List(t.Context(), all)
	if err != nil || len(changes) != 1 || changes[0].Gaps != "" || changes[0].State != history.StateDone {
		t.Errorf("it sees %+v, %v", changes, err)
	}
}

// TestClosedDirectory restores, as an ordinary user, the files of a directory that nobody may write to.
func TestClosedDirectory(t *testing.T) {
	t.Parallel()
	if testenv.AsOrdinaryUser(t) {
		return
	}
	r := newRoom(t, history.Options{})
	r.put("d/a", "1")
	r.put("d/b", "2")
	c := r.command("c1")
	c.check(os.Chmod(c.path("d"), 0o500)) // as it is before the command
	c.w.Touch(c.path("d"), false)
	c.check(os.Chmod(c.path("d"), 0o700))
	c.remove("d/a")
	c.remove("d/b")
	c.remove("d")
	c.end()
	if got := r.undone(all); got != "d/ d/a=1 d/b=2" {
		t.Error(got)
	}
	if info, err := os.Stat(r.path("d")); err != nil || info.Mode().Perm() != 0o500 {
		t.Error(info, err)
	}
	c.check(os.Chmod(c.path("d"), 0o700)) // so that it can be removed
}

// TestMovedOnAndOn moves one file a thousand times: its ledger stays small, and still says where the file is.
func TestMovedOnAndOn(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("f0", "1")
	c := r.command("c1")
	for i := range 1000 {
		c.move(fmt.Sprint("f", i), fmt.Sprint("f", i+1))
	}
	list, err := filepath.Glob(r.kept + "/watch-*")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if info, err := os.Stat(list[0]); err != nil || info.Size() > 1<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	changes, err := r.open(history.Options{}).List(t.Context(), history.Selection{Path: r.path("f0")})
	if err != nil || len(changes) != 1 || !changes[0].Before.Is("") || changes[0].Before.Hash == "" {
		t.Errorf("another process sees %+v, %v", changes, err)
	}
	c.end()
	if got := r.undone(all); got != "f0=1" {
		t.Error(got)
	}
}
