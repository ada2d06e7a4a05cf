package worktree_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/worktree"
)

// place is where a session is that only this test has.
type place struct {
	cwd         string
	moves       []string
	stuck, hold error // of Move and MoveBack
}

func (p *place) Cwd() string { return p.cwd }

func (p *place) Inside(path string) bool { return path == p.cwd }

func (p *place) Move(to, from string, _ bool) error {
	if p.stuck == nil {
		p.cwd, p.moves = to, append(p.moves, from)
	}
	return p.stuck
}

func (p *place) MoveBack(to string) error {
	if p.hold == nil {
		p.cwd = to
	}
	return p.hold
}

// journal takes records.
type journal struct {
	all  []json.RawMessage
	full error
}

func (j *journal) remember(_ string, data any) error {
	text, err := json.Marshal(data)
	if j.full == nil {
		j.all = append(j.all, text)
	}
	return errors.Join(err, j.full)
}

// sessionIn is a session in a directory.
func sessionIn(s *worktree.Store, dir string) (*worktree.Session, *place, *journal) {
	p, j := &place{cwd: dir}, &journal{}
	return &worktree.Session{Store: s, ID: "s1", Rules: p, Remember: j.remember, Running: func(time.Time) []string { return nil }}, p, j
}

func agrees(worktree.Record) error { return nil }

// silent are hooks that are not there.
var silent = worktree.Hooks{Created: agrees, Make: func(worktree.Record) (string, error) { return "", nil }}

func unheard(worktree.Record) {}

// leave leaves as is checked before.
func leave(t *testing.T, in *worktree.Session, args abi.WorktreeArgs, removed func(worktree.Record)) (abi.WorktreeOK, error) {
	t.Helper()
	words, err := in.Check(t.Context(), args)
	if err != nil {
		return abi.WorktreeOK{}, err
	}
	return in.Leave(t.Context(), args, words, removed)
}

func inNone(t *testing.T, in *worktree.Session) bool {
	t.Helper()
	_, err := in.Check(t.Context(), abi.WorktreeArgs{Do: abi.WorktreeKeep})
	return err != nil
}

// TestEnterUndone has entering fail at each of its steps: nothing is left, and the session is where
// it was.
func TestEnterUndone(t *testing.T) {
	t.Parallel()
	broken := errors.New("it is broken")
	main := repository(t)
	for name, spoil := range map[string]func(p *place, j *journal) func(worktree.Record) error{
		"a hook": func(*place, *journal) func(worktree.Record) error {
			return func(worktree.Record) error { return broken }
		},
		"the journal": func(_ *place, j *journal) func(worktree.Record) error { j.full = broken; return agrees },
		"the rules":   func(p *place, _ *journal) func(worktree.Record) error { p.stuck = broken; return agrees },
	} {
		s := store(t)
		in, p, j := sessionIn(s, main)
		if _, err := in.Enter(t.Context(), "x", worktree.Hooks{Created: spoil(p, j), Make: silent.Make}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		wantGone(t, s, &worktree.Tree{Record: worktree.Record{Main: main, Path: filepath.Join(s.Dir, "none")}})
		if p.cwd != main || !inNone(t, in) {
			t.Errorf("%s: it is in %s", name, p.cwd)
		}
		if next, at, _ := sessionIn(s, main); next.Resume(j.all) != "" || at.cwd != main {
			t.Errorf("%s: the next process goes on in %s", name, at.cwd)
		}
	}
}

// TestLeaveFails keeps the session in its worktree where leaving fails, with all that is in it.
func TestLeaveFails(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	in, p, _ := sessionIn(s, main)
	ok, err := in.Enter(t.Context(), "x", silent)
	must(t, err)
	write(t, filepath.Join(ok.Path, "new"), "")
	for name, test := range map[string]struct {
		before func()
		args   abi.WorktreeArgs
		code   abi.Code
		says   string
	}{
		"it would be lost": {func() {}, abi.WorktreeArgs{Do: abi.WorktreeRemove}, abi.CodeDenied, "1 uncommitted: ?? new"},
		"the rules":        {func() { p.hold = errors.New("it is gone") }, abi.WorktreeArgs{Do: abi.WorktreeKeep}, abi.CodeIO, "cannot go back"},
		"a task": {func() { in.Running = func(time.Time) []string { return []string{"b1"} } }, abi.WorktreeArgs{Do: abi.WorktreeRemove, Discard: true},
			abi.CodeDenied, "background tasks run in the worktree: b1"},
	} {
		test.before()
		if _, err := leave(t, in, test.args, unheard); abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v of %s", name, err, abi.CodeOf(err))
		}
		if p.cwd != ok.Path || !exists(filepath.Join(ok.Path, "new")) {
			t.Errorf("%s: the session is in %s", name, p.cwd)
		}
		p.hold, in.Running = nil, func(time.Time) []string { return nil }
	}
	lost, err := leave(t, in, abi.WorktreeArgs{Do: abi.WorktreeRemove, Discard: true}, unheard)
	if err != nil || lost.Files != 1 || lost.Commits != 0 || p.cwd != main {
		t.Errorf("it lost %+v, %v, in %s", lost, err, p.cwd)
	}
}

// TestLeaveUnknown removes what nobody knows only where that is said.
func TestLeaveUnknown(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	in, p, _ := sessionIn(s, main)
	ok, err := in.Enter(t.Context(), "x", silent)
	must(t, err)
	must(t, os.Remove(filepath.Join(ok.Path, ".git")))
	if _, err := leave(t, in, abi.WorktreeArgs{Do: abi.WorktreeRemove}, unheard); abi.CodeOf(err) != abi.CodeChanged {
		t.Errorf("got %v", err)
	}
	gone, err := leave(t, in, abi.WorktreeArgs{Do: abi.WorktreeRemove, Discard: true}, unheard)
	if err != nil || len(gone.Notes) != 1 || p.cwd != main {
		t.Errorf("it lost %+v, %v, in %s", gone, err, p.cwd)
	}
}

// TestResume goes on in a worktree that stands, is free and is one of where the session began.
func TestResume(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	sub := filepath.Join(main, "sub")
	must(t, os.Mkdir(sub, 0o700))
	in, p, j := sessionIn(s, sub)
	ok, err := in.Enter(t.Context(), "x", silent)
	must(t, err)
	if p.moves[0] != main {
		t.Errorf("it came from %q", p.moves)
	}
	resume := func(dir string, records []json.RawMessage, where, says string) *worktree.Session {
		t.Helper()
		next, at, _ := sessionIn(s, dir)
		if gone := next.Resume(records); at.cwd != where || !strings.Contains(gone, says) || (says == "") != (gone == "") {
			t.Errorf("it goes on in %s: %q; want %s, %q", at.cwd, gone, where, says)
		}
		return next
	}
	resume(sub, j.all, sub, "a session is working in it") // this process still has it
	must(t, in.Close())
	must(t, in.Close())
	resume(sub, nil, sub, "")
	other := repository(t)
	resume(other, j.all, other, "it is one of "+main+", and the session has to begin there")
	resume(sub, []json.RawMessage{[]byte("junk")}, sub, "")
	resume(sub, []json.RawMessage{[]byte(`{"path":"/etc"}`)}, sub, "no worktree of this program")
	nowhere, _, _ := sessionIn(nil, sub)
	if gone := nowhere.Resume(j.all); !strings.Contains(gone, "no place for worktrees") {
		t.Errorf("without a place for worktrees: %q", gone)
	}
	next := resume(sub, j.all, ok.Path, "")
	back, err := leave(t, next, abi.WorktreeArgs{Do: abi.WorktreeRemove}, unheard)
	if err != nil || back.Original != sub {
		t.Errorf("it goes back to %s, %v", back.Original, err)
	}
	resume(sub, j.all, sub, "as before: ")
}

// TestHooked has a hook make the worktree where there is no repository.
func TestHooked(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir, made := filepath.Join(root, "project"), filepath.Join(root, "copy")
	for _, path := range []string{dir, made} {
		must(t, os.Mkdir(path, 0o700))
	}
	write(t, filepath.Join(root, "file"), "")
	s := store(t)
	in, p, j := sessionIn(s, dir)
	answer := func(path string) worktree.Hooks {
		return worktree.Hooks{Created: func(worktree.Record) error { return errors.New("it was asked twice") }, Make: func(r worktree.Record) (string, error) {
			if r.Path != "" || r.Name != "x" || r.From != dir {
				t.Errorf("the hook is told %+v", r)
			}
			return path, nil
		}}
	}
	for path, says := range map[string]string{
		"": "it is in no git repository", "copy": "no absolute path", root: "holds the directory of the session", dir: "holds the directory of the session",
		"/": "holds the directory of the session", filepath.Join(root, "none"): "is not there", filepath.Join(root, "file"): "no directory",
	} {
		if _, err := in.Enter(t.Context(), "x", answer(path)); err == nil || !strings.Contains(err.Error(), says) || p.cwd != dir {
			t.Errorf("%q: %v, in %s", path, err, p.cwd)
		}
	}
	ok, err := in.Enter(t.Context(), "x", answer(made))
	if err != nil || ok.Path != made || ok.Branch != "" || p.cwd != made {
		t.Fatalf("it entered %+v, %v, in %s", ok, err, p.cwd)
	}
	must(t, in.Close())
	must(t, os.Remove(made))
	must(t, os.Symlink("/", made))
	if next, at, _ := sessionIn(s, dir); next.Resume(j.all) == "" || at.cwd != dir {
		t.Errorf("it goes on in %s, which is a link to everything", at.cwd)
	}
	must(t, os.Remove(made))
	must(t, os.Mkdir(made, 0o700))
	in, p, _ = sessionIn(s, dir)
	if gone := in.Resume(j.all); gone != "" || p.cwd != made {
		t.Fatalf("it goes on in %s: %s", p.cwd, gone)
	}
	if _, err := leave(t, in, abi.WorktreeArgs{Do: abi.WorktreeRemove}, unheard); abi.CodeOf(err) != abi.CodeChanged {
		t.Errorf("it is known what is lost: %v", err)
	}
	removes := func(worktree.Record) { must(t, os.RemoveAll(made)) }
	if ok, err = leave(t, in, abi.WorktreeArgs{Do: abi.WorktreeRemove, Discard: true}, removes); err != nil || len(ok.Notes) != 1 || p.cwd != dir {
		t.Errorf("it left %+v, %v, in %s", ok, err, p.cwd)
	}
	if next, at, _ := sessionIn(s, dir); next.Resume(j.all) == "" || at.cwd != dir {
		t.Error("it goes on in what is gone")
	}
	must(t, os.Mkdir(made, 0o700))
	_, err = in.Enter(t.Context(), "x", answer(made))
	must(t, err)
	if ok, err = leave(t, in, abi.WorktreeArgs{Do: abi.WorktreeRemove, Discard: true}, unheard); err != nil || len(ok.Notes) != 2 || !exists(made) {
		t.Errorf("no hook removed it: %+v, %v", ok, err)
	}
}

// TestWords tell what would be made and lost, and nothing else is lost than they said.
func TestWords(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	in, p, _ := sessionIn(s, main)
	if words, err := in.Check(t.Context(), abi.WorktreeArgs{Do: abi.WorktreeEnter, Name: "x"}); err != nil || !strings.Contains(words, s.Dir) || !strings.Contains(words, "worktree/x") {
		t.Errorf("entering is told as %q, %v", words, err)
	}
	ok, err := in.Enter(t.Context(), "x", silent)
	must(t, err)
	discard := abi.WorktreeArgs{Do: abi.WorktreeRemove, Discard: true}
	words, err := in.Check(t.Context(), discard)
	if err != nil || words != "Nothing is lost with "+ok.Path+" but files that git ignores, if there are any." {
		t.Errorf("leaving is told as %q, %v", words, err)
	}
	write(t, filepath.Join(ok.Path, "a\x1b[31m"), "")
	if _, err := in.Leave(t.Context(), discard, words, unheard); abi.CodeOf(err) != abi.CodeChanged || !exists(ok.Path) || p.cwd != ok.Path {
		t.Errorf("what nobody was told of is lost: %v", err)
	}
	if words, err = in.Check(t.Context(), discard); err != nil || words != "This is lost with "+ok.Path+`: 1 uncommitted: ?? a\x1b[31m` {
		t.Errorf("leaving is told as %q, %v", words, err)
	}
	_, err = in.Leave(t.Context(), discard, words, unheard)
	must(t, err)
}
