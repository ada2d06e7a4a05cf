package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// typed is an input on which text was typed.
func typed(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// approvalOf is the question for an approval.
func approvalOf(a host.Approval) host.Question {
	return host.Question{Kind: host.QuestionApproval, Approval: &a}
}

// command is a question about a shell command, with all there may be.
func command(text string) host.Approval {
	return host.Approval{
		Tool: "Bash", Plugin: "shell", Title: text, Cwd: "/ws/proj", Input: json.RawMessage(`{}`),
		Accesses: []permissions.Access{
			{Kind: permissions.AccessExec, Target: text},
			{Kind: permissions.AccessWrite, Target: "/ws/proj/out", Real: "/data/out"},
		},
		Decision: &permissions.Decision{Finding: permissions.Finding{Verdict: permissions.Ask, Layer: permissions.LayerMode, Why: "it is not read-only"}},
		Remember: []host.RememberOption{
			{Target: host.TargetSession, Rules: []string{"Bash(make *)"}},
			{Target: host.TargetUser, Rules: []string{"Bash(make *)"}, File: "/home/u/.config/toolquay/settings.toml"},
		},
	}
}

func TestAskerOverAPipe(t *testing.T) {
	t.Parallel()
	q := command("make \x1b[2J\u202ex")
	allow, deny := host.Reply{Answer: host.AnswerAllow}, host.Reply{Answer: host.AnswerDeny}
	session, user := allow, allow
	session.Remember, user.Remember = &q.Remember[0], &q.Remember[1]
	told := deny
	told.Message = "not \x1bthis"
	tests := map[string]struct {
		in   string
		want host.Reply
		err  error
	}{
		"yes":                  {"y\n", allow, nil},
		"large":                {"Y\n", allow, nil},
		"no":                   {"n\n", deny, nil},
		"session":              {"s\n", session, nil},
		"always":               {"u\n", user, nil},
		"words":                {"t\nnot \x1bthis\n", told, nil},
		"a scope not offered":  {"p\nl\nn\n", deny, nil},
		"words are not a key":  {"yes\nyep\n\nn\n", deny, nil},
		"the end":              {"", host.Reply{}, io.EOF},
		"the end amid words":   {"t\n", host.Reply{}, io.EOF},
		"not seen, so not yes": {"v\nn\n", deny, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, out := printer(0, false)
			got, err := NewAsker(p, typed(t, tt.in)).Ask(t.Context(), approvalOf(q))
			if !reflect.DeepEqual(got, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("got %+v and %v, want %+v and %v\n%s", got, err, tt.want, tt.err, out)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("an escape sequence reached the terminal: %q", out)
			}
		})
	}
}

// TestQuestionIsShown holds what a person sees before they answer: all of it, in whole
// words, on however narrow a terminal.
func TestQuestionIsShown(t *testing.T) {
	t.Parallel()
	wide := `? Run this command?
  | make \x1b[2J\u202ex
  | echo 2
  It is not read-only
  effect   changing /ws/proj/out, which is /data/out
  tool     Bash (plugin shell)
  in       /ws/proj
  [y and Enter] yes, this once
  [s and Enter] yes, and always for this session: allow Bash(make *)
  [u and Enter] yes, and always in all your projects: allow Bash(make *) (written to /home/u/.config/toolquay/settings.toml)
  [n and Enter] no; this ends the turn
  [t and Enter] no, and tell the model why
  no; this ends the turn
`
	for width, want := range map[int]string{0: wide, 12: wide, 300: wide, 40: `? Run this command?
  | make \x1b[2J\u202ex
  | echo 2
  It is not read-only
  effect   changing /ws/proj/out, which
           is /data/out
  tool     Bash (plugin shell)
  in       /ws/proj
  [y and Enter] yes, this once
  [s and Enter] yes, and always for this
             session: allow Bash(make *)
  [u and Enter] yes, and always in all
             your projects: allow
             Bash(make *) (written to
             /home/u/.config/toolquay/
             settings.toml)
  [n and Enter] no; this ends the turn
  [t and Enter] no, and tell the model
             why
  no; this ends the turn
`} {
		p, out := printer(width, false)
		q := command("make \x1b[2J\u202ex\necho 2")
		q.Reasons, q.DenyEndsTurn = []string{"It is not read-only"}, true
		reply, err := NewAsker(p, typed(t, "n\n")).Ask(t.Context(), approvalOf(q))
		if err != nil || !reply.EndTurn {
			t.Fatalf("%+v, %v", reply, err)
		}
		if got := out.String(); got != want {
			t.Errorf("width %d: got\n%s\nwant\n%s", width, got, want)
		}
	}
}

// TestHeadline says what will happen.
func TestHeadline(t *testing.T) {
	t.Parallel()
	access := func(kind permissions.AccessKind, targets ...string) (out []permissions.Access) {
		for _, target := range targets {
			out = append(out, permissions.Access{Kind: kind, Target: target, Real: target})
		}
		return out
	}
	gone, tree := access(permissions.AccessWrite, "/ws/proj/old"), access(permissions.AccessRead, "/etc")
	gone[0].Removal, tree[0].Tree = true, true
	for want, accesses := range map[string][]permissions.Access{
		"Edit quay.go?":         access(permissions.AccessWrite, "/ws/proj/quay.go"),
		"Edit /etc/hosts?":      access(permissions.AccessWrite, "/etc/hosts"),
		"Edit /ws/project/a?":   access(permissions.AccessWrite, "/ws/project/a"),
		"Edit a, b and c?":      access(permissions.AccessWrite, "/ws/proj/a", "/ws/proj/b", "/ws/proj/c"),
		"Edit a, b and 2 more?": access(permissions.AccessWrite, "/ws/proj/a", "/ws/proj/b", "/ws/proj/c", "/ws/proj/d"),
		"Delete old?":           gone,
		"Edit old?":             append(slices.Clone(gone), access(permissions.AccessWrite, "/ws/proj/old")...),
		"Read /" + strings.Repeat("x", firstChars-1) + "?": access(permissions.AccessRead, "/"+strings.Repeat("x", firstChars+99)),
		"Edit a and old?":                  append(access(permissions.AccessWrite, "/ws/proj/a"), gone...),
		"Edit sub/b?":                      append(access(permissions.AccessRead, "/ws/proj/c"), access(permissions.AccessWrite, "/ws/proj/sub/b")...),
		"Read /etc/hosts?":                 access(permissions.AccessRead, "/etc/hosts"),
		"Read everything in /etc?":         tree,
		"Connect to example.com?":          access(permissions.AccessNet, "https://example.com/a/b"),
		"Connect to https://u@a.example/?": access(permissions.AccessNet, "https://u@a.example/"),
		"Run this command?":                append(access(permissions.AccessExec, "cat a"), access(permissions.AccessRead, "/ws/proj/a")...),
		"Use Tool?":                        append(access(permissions.AccessNet, "a.example"), access(permissions.AccessWrite, "/ws/proj/a")...),
	} {
		v := newQuestion(host.Approval{Tool: "Tool", Plugin: "kit", Cwd: "/ws/proj", Title: "about", Accesses: accesses})
		if got := v.headline(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		// What the headline leaves out stands below it.
		p, out := printer(0, false)
		v.show(p)
		for _, a := range accesses {
			if a.Kind != permissions.AccessExec && !strings.Contains(out.String(), strings.TrimPrefix(a.Target, "/ws/proj/")) {
				t.Errorf("%s is not shown in\n%s", a, out)
			}
		}
	}
	if got := newQuestion(host.Approval{Tool: "mcp__s__t"}).headline(); got != "Use mcp__s__t?" {
		t.Error(got)
	}
}

// TestShortFacts leaves out of a question what it says already, and counts the reasons
// that are too many. Effects that no headline is about are of the tool.
func TestShortFacts(t *testing.T) {
	t.Parallel()
	of := func(kind permissions.AccessKind) permissions.Access {
		return permissions.Access{Kind: kind, Target: "/a"}
	}
	for _, q := range []host.Approval{
		{Title: "the change", Preview: "the change"},
		{Title: "list", Accesses: []permissions.Access{of(permissions.AccessExec)}},
		{Title: "a", Accesses: []permissions.Access{of(permissions.AccessWrite)}},
	} {
		q.Tool = "Tool"
		if got := newQuestion(q).asker(); got != "Tool" {
			t.Errorf("%s: got %q", q.Title, got)
		}
	}
	for _, accesses := range [][]permissions.Access{{of("newer")}, {of(permissions.AccessSession), of(permissions.AccessRead)}} {
		if got := newQuestion(host.Approval{Tool: "Tool", Accesses: accesses}).headline(); got != "Use Tool?" {
			t.Errorf("%v: got %q", accesses, got)
		}
	}
	p, out := printer(0, false)
	newQuestion(host.Approval{Reasons: slices.Repeat([]string{"One."}, maxShownReasons+2)}).show(p)
	if got := out.String(); strings.Count(got, "  One.\n") != maxShownReasons || !strings.Contains(got, "  And 2 more reasons.\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestFactsOfAQuestion holds what stands below the headline: all reasons, where a path
// really lies, what the tool says of the call, and which worker it comes from.
func TestFactsOfAQuestion(t *testing.T) {
	t.Parallel()
	q := host.Approval{
		Tool: "Fill", Plugin: "forms", Worker: "w1", Title: "the second form", Cwd: "/ws/proj", Reasons: []string{"One.", "Two."},
		Accesses: []permissions.Access{{Kind: permissions.AccessWrite, Target: "/ws/proj/out", Real: "/data/out"}},
		Remember: []host.RememberOption{{Target: host.TargetEdits, Rules: []string{"Edit"}}},
	}
	p, out := printer(0, false)
	reply, err := NewAsker(p, typed(t, "e\n")).Ask(t.Context(), approvalOf(q))
	if err != nil || reply.Remember == nil || reply.Remember.Target != host.TargetEdits {
		t.Errorf("%+v, %v", reply, err)
	}
	want := `? Edit out?
  One.
  Two.
  effect   changing /ws/proj/out, which is /data/out
  tool     Fill (plugin forms): the second form
  from     w1
  in       /ws/proj
`
	if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "yes, and all edits in this session: allow Edit\n") {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestNoYesToWhatWasNotShown holds that a long command is shown whole before
// there is a key for yes.
func TestNoYesToWhatWasNotShown(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20) + " ; rm -rf ~"
	p, out := printer(80, false)
	got, err := NewAsker(p, typed(t, "y\ns\nv\ny\n")).Ask(t.Context(), approvalOf(command(long)))
	if err != nil || got.Answer != host.AnswerAllow || got.Remember != nil {
		t.Errorf("got %+v and %v", got, err)
	}
	before, after, _ := strings.Cut(out.String(), "[v and Enter]")
	if strings.Contains(before, "[y") || len(before) > 8<<10 || !strings.Contains(after, "; rm -rf ~") {
		t.Errorf("before v there are %d bytes, a yes %v; after it the end of the command %v",
			len(before), strings.Contains(before, "[y"), strings.Contains(after, "; rm -rf ~"))
	}
}

// TestNoYesToEffectsNotShown holds the same of what a call touches.
func TestNoYesToEffectsNotShown(t *testing.T) {
	t.Parallel()
	q := host.Approval{Tool: "Tool", Title: "x"}
	for i := range 30 {
		q.Accesses = append(q.Accesses, permissions.Access{Kind: permissions.AccessWrite, Target: fmt.Sprint("/ws/", i)})
	}
	p, out := printer(0, false)
	got, err := NewAsker(p, typed(t, "y\nv\ny\n")).Ask(t.Context(), approvalOf(q))
	before, after, _ := strings.Cut(out.String(), "[v and Enter]")
	if err != nil || got.Answer != host.AnswerAllow || strings.Contains(before, "[y") ||
		!strings.Contains(before, "and 10 more") || !strings.Contains(after, "changing /ws/29") {
		t.Errorf("got %+v and %v\n%s", got, err, out)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	p, out := printer(0, true)
	q := host.Approval{Tool: "Edit", Title: "a.go", Preview: "@@ -1 +1 @@\n-old\x07\n+new\n"}
	if _, err := NewAsker(p, typed(t, "n\n")).Ask(t.Context(), approvalOf(q)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  | \x1b[31m-old\\x07\x1b[0m\n", "  | \x1b[32m+new\x1b[0m\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %q", want, out)
		}
	}
}

// TestDecidedQuestionIsNotShown withdraws a question that the answer to another decided.
func TestDecidedQuestionIsNotShown(t *testing.T) {
	t.Parallel()
	in := typed(t, "")
	synctest.Test(t, func(t *testing.T) {
		p, out := printer(0, false)
		a := NewAsker(p, in)
		<-a.turn // somebody is being asked
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan error, 1)
		go func() {
			_, err := a.Ask(ctx, approvalOf(command("make")))
			asked <- err
		}()
		synctest.Wait()
		a.turn <- struct{}{} // they answered
		synctest.Wait()
		cancel()
		if err := <-asked; !errors.Is(err, context.Canceled) || out.Len() != 0 || len(a.turn) != 1 {
			t.Errorf("%v; shown:\n%s", err, out)
		}
	})
}

func TestAskerIsCancelled(t *testing.T) {
	t.Parallel()
	p, _ := printer(0, false)
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer w.Close()
	a := NewAsker(p, in)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	for range 2 { // one waits for the answer, the other for its turn
		go func() {
			_, err := a.Ask(ctx, approvalOf(host.Approval{}))
			errs <- err
		}()
	}
	cancel()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}
