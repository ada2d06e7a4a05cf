package shell_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

var whole = history.Selection{Call: "call"}

// secret is text that no history may contain.
const secret = "secret-4711-that-is-nowhere-else"

// hides fails the test if the secret is in a file of the history or in a content that the history returns.
func hides(t *testing.T, s *session, h *history.Store) {
	t.Helper()
	changes, err := h.List(t.Context(), history.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Before == nil || c.Before.Kind != "" {
			continue
		}
		r, err := h.Content(c.Before)
		if err != nil {
			continue // it is not kept
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r); err == nil && strings.Contains(text.String(), secret) {
			t.Errorf("the history has it, of %s", c.Path)
		}
		_ = r.Close()
	}
	err = filepath.WalkDir(filepath.Join(filepath.Dir(s.dir), "history"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// swapping are programs that make a path lead elsewhere while other threads use it.
var swapping = map[string]string{
	"a directory": `
import os, threading, time
end = time.time() + 1.5
os.makedirs("d"); open("d/secret", "w").write("mine")
os.symlink(OUT, "l")
def swap():
    while time.time() < end:
        try:
            os.rename("d", "e"); os.rename("l", "d"); os.rename("d", "l"); os.rename("e", "d")
        except OSError: pass
def write():
    while time.time() < end:
        for act in (lambda: os.chmod("d/secret", 0o600), lambda: open("d/secret", "a").close(), lambda: os.rename("d/secret", "d/x"), lambda: os.rename("d/x", "d/secret")):
            try: act()
            except OSError: pass
threads = [threading.Thread(target=f) for f in (swap, swap, write, write)]
[t.start() for t in threads]; [t.join() for t in threads]
`,
	"the text of a path": `
import ctypes, os, threading, time
end = time.time() + 1.5
libc = ctypes.CDLL(None)
open("mine", "w").write("mine")
inside, outside = b"mine".ljust(len(OUT) + 8, b"\0"), (OUT + "/secret").encode().ljust(len(OUT) + 8, b"\0")
path = ctypes.create_string_buffer(inside)
def swap():
    while time.time() < end: ctypes.memmove(path, outside, len(outside)); ctypes.memmove(path, inside, len(inside))
def write():
    while time.time() < end:
        fd = libc.open(path, os.O_WRONLY)
        if fd >= 0: libc.close(fd)
        libc.rename(path, b"other"); libc.rename(b"other", path); libc.unlink(path); open("mine", "w").close()
threads = [threading.Thread(target=f) for f in (swap, write, write)]
[t.start() for t in threads]; [t.join() for t in threads]
`,
	"links and hidden files": `
import os
for act in (lambda: open("hidden", "a"), lambda: os.rename("hidden", "h"), lambda: os.link("hidden", "h"), lambda: os.chmod("hidden", 0o666), lambda: os.unlink("hidden"),
            lambda: open("protected", "a"), lambda: os.rename("protected", "p"), lambda: os.rename("deep", "moved"), lambda: os.rename("deep/in", "moved"),
            lambda: os.symlink(OUT + "/secret", "out"), lambda: open("out", "a"), lambda: os.truncate("out", 0), lambda: os.link(OUT + "/secret", "hard"),
            lambda: os.symlink(OUT, "dir"), lambda: os.rename("dir/secret", "taken"), lambda: os.unlink("dir/secret"), lambda: open("dir/new", "w")):
    try: act()
    except OSError: pass
`,
}

// TestHistoryIsNoWayOut has commands try to make the history keep files that they may not read themselves.
func TestHistoryIsNoWayOut(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	for name, program := range swapping {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, h := watched(t)
			out := filepath.Join(filepath.Dir(s.dir), "out")
			s.hidden = []string{out + "/secret", s.dir + "/hidden", s.dir + "/deep/in/hidden"}
			s.protected = []string{s.dir + "/protected"}
			outside(t, s.dir, fmt.Sprintf("mkdir -p %s deep/in; for f in %[1]s/secret hidden deep/in/hidden; do echo %s > $f; done; echo p > protected", out, secret))
			r := s.bash(c, "python3 - <<'END'\nOUT = '"+out+"'\n"+program+"\nEND")
			if r.err != "" {
				t.Error(r.err)
			}
			hides(t, s, h)
			if _, err := h.Restore(t.Context(), whole, history.RestoreOptions{Force: true}); err != nil {
				t.Log(err) // files that are links now are refused
			}
			hides(t, s, h)
			for _, path := range s.hidden {
				if text, err := os.ReadFile(path); err != nil || string(text) != secret+"\n" {
					t.Errorf("%s is %q, %v", path, text, err)
				}
			}
		})
	}
}

// TestHistoryDoesNotHang has commands make files that cannot be read, or not to their ends.
func TestHistoryDoesNotHang(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	for name, test := range map[string]struct{ text string }{
		"pipes":         {"mkfifo p; chmod 600 p; mv p q; ln q r; rm r; (echo x > q & cat q) > /dev/null"},
		"huge":          {"truncate -s 4T huge; truncate -s 4T f; mv huge f"},
		"held by lease": {`python3 -c 'import fcntl, os; d = os.open("f", os.O_RDWR); fcntl.fcntl(d, fcntl.F_SETLEASE, fcntl.F_WRLCK); os.rename("f", "g"); os.chmod("g", 0o600); os.unlink("g")'`},
		"a growing one": {"(for i in {1..300}; do echo x >> f; mv f g; mv g f; done) & (for i in {1..2000}; do echo y >> f; done) & wait"},
		"deep": {`python3 -c 'import os
for i in range(300): os.mkdir("d"*10); os.chdir("d"*10)' && mv dddddddddd e`},
		"circles": {"ln -s b a; ln -s a b; (echo x > a) 2> /dev/null; mv a c; ln -s . l; echo x > l/l/l/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, h := watched(t)
			outside(t, s.dir, "echo f > f")
			before := testenv.Tree(t, s.dir)
			began := time.Now()
			r := s.bash(c, test.text)
			if took := time.Since(began); took > testenv.Patience {
				t.Errorf("it took %v: %s", took, r.Note)
			}
			_, err := h.Restore(t.Context(), whole, history.RestoreOptions{Force: true})
			if err != nil {
				t.Errorf("%v; %s", err, r.Note)
			}
			before["q"] = testenv.Tree(t, s.dir)["q"] // pipes stay
			if before["q"] == "" {
				delete(before, "q")
			}
			if d := testenv.TreeDiff(before, testenv.Tree(t, s.dir)); d != "" {
				t.Errorf("restored, the tree is another: %s\n%s%s", d, r.Note, r.err)
			}
		})
	}
}

// TestTasksAreUndone lists what a background task changes, while it runs and when it has ended, and undoes it.
func TestTasksAreUndone(t *testing.T) {
	t.Parallel()
	s, c, h := watched(t)
	s.noTasks = false
	outside(t, s.dir, "echo f > f")
	before := testenv.Tree(t, s.dir)
	s.run(c, abi.ShellArgs{Command: "echo x > f; touch done; while [ ! -e go ]; do sleep 0.01; done; rm f go; echo new > new", Background: true})
	task := <-s.begun
	awaitFile(t, s.dir+"/done")
	changes, err := h.List(t.Context(), whole)
	if names := changed(changes); err != nil || !slices.Equal(names, []string{"done", "f"}) {
		t.Errorf("while it runs: %q, %v", names, err)
	}
	outside(t, s.dir, "touch go")
	if o := task.outcome(t); o.Exit == nil || *o.Exit != 0 || strings.Contains(o.Note, "history") {
		t.Errorf("it ended with %+v", o)
	}
	changes, err = h.List(t.Context(), whole)
	if names := changed(changes); err != nil || !slices.Contains(names, "new") {
		t.Errorf("at its end: %q, %v", names, err)
	}
	if _, err := h.Restore(t.Context(), whole, history.RestoreOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	after := testenv.Tree(t, s.dir)
	delete(after, "go") // no command made it
	if d := testenv.TreeDiff(before, after); d != "" {
		t.Errorf("restored, the tree is another:\n%s", d)
	}
}

// changed returns the names of the files in a list, sorted, each once.
func changed(list []history.Change) []string {
	var names []string
	for _, c := range list {
		names = append(names, filepath.Base(c.Path))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Since(began) > testenv.Patience {
			t.Fatalf("%s does not come", path)
		}
	}
}

// TestUnknownChanges runs commands whose changes no sandbox reports: the history says once, under the call, that they are not
// known.
func TestUnknownChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(t *testing.T, s *session) func(*shell.Options)
		command string
		want    string
	}{
		"no sandbox": {func(*testing.T, *session) func(*shell.Options) { return func(*shell.Options) {} }, "echo x > f", "it ran without a sandbox"},
		"it reads":   {func(*testing.T, *session) func(*shell.Options) { return func(*shell.Options) {} }, "cat f", ""},
		"partial": {func(t *testing.T, s *session) func(*shell.Options) {
			t.Helper()
			return s.partially()
		}, "echo x > f", "it ran in a partial sandbox, which does not report changes"},
		"bubblewrap": {func(t *testing.T, s *session) func(*shell.Options) {
			t.Helper()
			return s.sandboxedBy(testenv.NeedTool(t, "bwrap"))
		}, "echo x > f", "this kind of sandbox does not report changes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, h := watched(t)
			outside(t, s.dir, "echo f > f")
			r := s.bash(newShell(t, test.change(t, s)), test.command)
			want := test.want
			if want != "" {
				want = "what it changed is not known: " + want
			}
			changes, err := h.List(t.Context(), whole)
			if err != nil || want == "" && len(changes) > 0 || want != "" && (len(changes) != 1 || changes[0].Gaps != want) {
				t.Errorf("got %+v, %v; want %s\n%s", changes, err, want, r.Note)
			}
			if _, err := h.Restore(t.Context(), whole, history.RestoreOptions{}); err == nil {
				t.Error("it is restored")
			}
		})
	}
}

// TestManyFiles has a command change more than a hundred thousand files: what the result says about that is true.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	testenv.SkipUnlessThorough(t)
	testenv.NeedTool(t, "python3")
	s, c, h := watched(t)
	outside(t, s.dir, `python3 -c 'for i in range(1000): open("f%d" % i, "w").write("was")'`)
	r := s.run(c, abi.ShellArgs{Timeout: 600_000, Command: `python3 -c '
import os
os.mkdir("n")
for i in range(1000): os.unlink("f%d" % i)
for i in range(99500): os.close(os.open("n/%d" % i, os.O_CREAT | os.O_WRONLY))
os.rename("n", "m")'`})
	if r.Exit != 0 || !strings.Contains(r.Note, "it changed more than 100000 files") {
		t.Errorf("exit %d, %s %s", r.Exit, r.Note, r.err)
	}
	if _, err := h.Restore(t.Context(), history.Selection{Path: s.dir + "/f7"}, history.RestoreOptions{}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(s.dir + "/f7"); string(text) != "was" {
		t.Errorf("it is %q, %v", text, err)
	}
}
