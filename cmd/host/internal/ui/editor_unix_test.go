//go:build unix

package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
)

// scriptEditor has VISUAL be a script, and returns what the script notes: its arguments, and what
// the file's permissions are.
func scriptEditor(t *testing.T, script, flags string) (notes string) {
	t.Helper()
	dir := t.TempDir()
	notes = filepath.Join(dir, "notes")
	path := filepath.Join(dir, "editor.sh")
	head := "#!/bin/sh\nfor last; do :; done\necho \"$# $1\" >>" + notes + "\nls -ld \"$last\" \"$(dirname \"$last\")\" | cut -c1-10 >>" + notes + "\n"
	if err := os.WriteFile(path, []byte(head+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", path+flags)
	t.Setenv("TMPDIR", t.TempDir())
	return notes
}

// askPlan asks to accept a plan on a terminal, presses keys as their prompts come, and returns the
// answer and what was shown.
func askPlan(t *testing.T, keys ...string) (answered, string) {
	t.Helper()
	s := newDesk(t)
	asker, out := s.asker(), make(chan answered, 1)
	go func() {
		reply, err := asker.Ask(context.WithoutCancel(t.Context()), planQuestion("Mend it."))
		out <- answered{reply, err}
	}()
	var got answered
	for i, key := range keys {
		s.waitFor("tell the model what to change", i+1)
		done := func() bool { return strings.Count(s.text(), "tell the model what to change") > i+1 }
		if i == len(keys)-1 {
			done = func() bool {
				select {
				case got = <-out:
					return true
				default:
					return false
				}
			}
		}
		s.insist(key, done)
	}
	return got, s.text()
}

func TestPlanIsEdited(t *testing.T) {
	notes := scriptEditor(t, "printf 'Leave \\033[2Jit.\\n' >\"$last\"\n", " --wait  ;touch $HOME")
	got, text := askPlan(t, "e", "y")
	if got.err != nil || string(got.reply.Content) != `{"plan":"Leave \u001b[2Jit.\n","mode":"default"}` {
		t.Errorf("%s, %v", got.reply.Content, got.err)
	}
	if !strings.Contains(text, `Leave \x1b[2Jit.`) || !strings.Contains(text, "with the plan as you changed it") {
		t.Errorf("the terminal shows %q", text)
	}
	if said, err := os.ReadFile(notes); err != nil || !strings.HasPrefix(string(said), "4 --wait\ndrwx------\n-rw-------\n") {
		t.Errorf("the editor was called as %q, %v", said, err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// unstyled is what a terminal shows as one line, without its styles.
func unstyled(text string) string {
	for _, s := range []Style{Bold, Dim, Red, Yellow, Cyan, "0"} {
		text = strings.ReplaceAll(text, "\x1b["+string(s)+"m", "")
	}
	return strings.Join(strings.Fields(text), " ")
}

// TestEditorFails: the plan stays as it was, and the question open.
func TestEditorFails(t *testing.T) {
	for name, test := range map[string]struct{ script, says string }{
		"status":  {"printf 'Leave it.' >\"$last\"\nexit 3\n", "exit status 3"},
		"empty":   {": >\"$last\"\n", "plan is empty"},
		"removed": {"rm \"$last\"\n", "left no plan"},
		"no text": {"printf '\\377' >\"$last\"\n", "not UTF-8"},
		"huge":    {"head -c 1048577 /dev/zero | tr '\\0' x >\"$last\"\n", "1048577 bytes"},
	} {
		scriptEditor(t, test.script, "")
		got, text := askPlan(t, "e", "y")
		if got.err != nil || got.reply.Answer != host.AnswerAllow || string(got.reply.Content) != `{"mode":"default"}` {
			t.Errorf("%s: %s, %v", name, got.reply.Content, got.err)
		}
		if text = unstyled(text); !strings.Contains(text, test.says) || !strings.Contains(text, "The plan is as it was.") {
			t.Errorf("%s: the terminal shows %q", name, text)
		}
	}
	t.Setenv("VISUAL", "/nowhere/editor")
	if _, text := askPlan(t, "e", "n"); !strings.Contains(unstyled(text), "no such file") {
		t.Errorf("an editor that is not there: %q", text)
	}
}

// TestEditorIsEnded with its question: it may tidy up, and the terminal is left as it was found. A
// Ctrl-C is the editor's as long as it runs.
func TestEditorIsEnded(t *testing.T) {
	tidied := filepath.Join(t.TempDir(), "tidied")
	scriptEditor(t, "trap 'echo >"+tidied+"; exit 1' TERM\nstty raw -echo\necho running\nwhile :; do sleep 0.02; done\n", "")
	s := newDesk(t)
	usual, a, held := s.modes(), s.asker(), make(chan bool, 2)
	a.HoldSignals(func() func() {
		held <- true
		return func() { held <- false }
	})
	ctx, cancel := context.WithCancel(t.Context())
	out := make(chan answered, 1)
	go func() {
		reply, err := a.Ask(ctx, planQuestion("Mend it."))
		out <- answered{reply, err}
	}()
	s.waitFor("tell the model what to change", 1)
	s.insist("e", func() bool { return strings.Contains(s.text(), "running") })
	if !<-held {
		t.Error("Ctrl-C would end the question")
	}
	cancel()
	if got := <-out; got.err == nil || <-held {
		t.Errorf("got %+v", got)
	}
	if s.modes() != usual {
		t.Error("the terminal is not left as it was found")
	}
	if _, err := os.Stat(tidied); err != nil {
		t.Errorf("the editor was killed: %v", err)
	}
}
