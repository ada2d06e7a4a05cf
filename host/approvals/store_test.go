package approvals_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

const childEnv = "TOOLQUAY_TEST_APPROVALS"

// TestMain is also the other process of the tests that need one:
// DIR VERB SESSION-OR-ID.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	s, err := approvals.OpenStore(os.Args[1], approvals.Options{})
	if err == nil {
		err = otherProcess(s, os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func otherProcess(s *approvals.Store, verb, about string) error {
	switch verb {
	case "allow", "deny":
		return s.Answer(about, approvals.Answer{Answer: host.Answer(verb), Message: "from another process", By: "other"})
	case "ask":
		a := question(rand.Text())
		a.Session = about
		reply, err := approvals.NewDurable(s, approvals.Resume{}).Ask(context.Background(), asked(a))
		fmt.Print(reply.Answer)
		return err
	}
	return errors.New("no such verb")
}

func inOtherProcess(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), self, args...)
	cmd.Env = append(os.Environ(), childEnv+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// question is one on writing a file, in the session s.
func question(id string, accesses ...string) host.Approval {
	a := host.Approval{
		ID: id, Session: "s", Cwd: "/ws", Mode: permissions.ModeDefault, CallID: "toolu_1", Tool: "Write", Plugin: "files",
		Title: "Write a.txt", Input: json.RawMessage(`{"content":"<&>\u2028é","file_path":"/ws/a.txt"}`),
		Binding: "ab12", Asked: time.Now(), Preview: "+new", Accesses: []permissions.Access{access("/ws/a.txt")},
		Decision: &permissions.Decision{
			Tool:    "Write",
			Finding: permissions.Finding{Verdict: permissions.Ask, Layer: permissions.LayerMode, Why: "nobody allowed it"},
		},
		Remember: []host.RememberOption{{Target: host.TargetSession, Rules: []string{"Edit(//ws/a.txt)"}}},
	}
	for _, path := range accesses {
		a.Accesses = append(a.Accesses, access(path))
	}
	return a
}

// asked is the question for an approval.
func asked(a host.Approval) host.Question {
	return host.Question{
		ID: a.ID, Kind: host.QuestionApproval, Session: a.Session, Call: a.CallID, Tool: a.Tool, Plugin: a.Plugin, Title: a.Title,
		Input: a.Input, Binding: a.Binding, Cwd: a.Cwd, Mode: a.Mode, Asked: a.Asked, Approval: &a,
	}
}

func access(path string) permissions.Access {
	return permissions.Access{Kind: permissions.AccessWrite, Target: path, Real: path}
}

func store(tb testing.TB, o approvals.Options) (*approvals.Store, string) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "approvals")
	s, err := approvals.OpenStore(dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s, dir
}

func ask(tb testing.TB, asker host.Asker, a host.Approval) host.Reply {
	tb.Helper()
	reply, err := asker.Ask(tb.Context(), asked(a))
	if err != nil {
		tb.Fatal(err)
	}
	return reply
}

// says wants an answer to a question.
func says(tb testing.TB, asker host.Asker, a host.Approval, want host.Answer) {
	tb.Helper()
	if got := ask(tb, asker, a); got.Answer != want {
		tb.Fatalf("question %s: %s, want %s", a.ID, got.Answer, want)
	}
}

func answer(tb testing.TB, s *approvals.Store, id string, a approvals.Answer) {
	tb.Helper()
	if err := s.Answer(id, a); err != nil {
		tb.Fatal(err)
	}
}

func allow() approvals.Answer { return approvals.Answer{Answer: host.AnswerAllow, By: "test"} }

// durable is an asker as a new process would make one.
func durable(s *approvals.Store) *approvals.Durable {
	return approvals.NewDurable(s, approvals.Resume{AdditionalDirs: []string{"/more"}, Format: message.Anthropic})
}

func TestAnsweredLater(t *testing.T) {
	t.Parallel()
	s, dir := store(t, approvals.Options{})
	asked := question("Q1")
	says(t, durable(s), asked, host.AnswerLater)
	items, err := s.List()
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	got := items[0]
	if got.State != approvals.StatePending || got.ID != "Q1" || got.Use.ID != "toolu_1" || got.Use.Name != "Write" ||
		got.Session != "s" || got.Cwd != "/ws" || got.Mode != permissions.ModeDefault || got.AdditionalDirs[0] != "/more" ||
		got.Format != message.Anthropic || got.Why.Reason != "nobody allowed it" || got.Preview != "+new" ||
		got.Accesses[0].Target != "/ws/a.txt" || !got.Asked.Equal(asked.Asked) {
		t.Errorf("%+v", got)
	}
	var before, after any
	if err := errors.Join(json.Unmarshal(asked.Input, &before), json.Unmarshal(got.Use.Input, &after)); err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the input is %s, %v", got.Use.Input, err)
	}
	if out, err := inOtherProcess(t, dir, "allow", "Q1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if item, err := s.Get("Q1"); err != nil || item.State != approvals.StateAllowed || item.Answer.By != "other" {
		t.Errorf("%+v, %v", item, err)
	}
	asked.ID = "Q2"
	says(t, durable(s), asked, host.AnswerAllow)
	asked.ID = "Q3"
	says(t, durable(s), asked, host.AnswerLater) // the answer is used up
	if _, err := s.Get("Q1"); !errors.Is(err, approvals.ErrUnknown) {
		t.Errorf("what was used is still there: %v", err)
	}
}

func TestDenialWithWords(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	says(t, durable(s), question("Q1"), host.AnswerLater)
	answer(t, s, "Q1", approvals.Answer{Answer: host.AnswerDeny, Message: "use b.txt", EndTurn: true})
	if reply := ask(t, durable(s), question("Q2")); reply.Answer != host.AnswerDeny || reply.Message != "use b.txt" || !reply.EndTurn {
		t.Errorf("%+v", reply)
	}
	says(t, durable(s), question("Q3"), host.AnswerLater)
}

func TestOfferIsTaken(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	says(t, durable(s), question("Q1"), host.AnswerLater)
	if err := s.Answer("Q1", approvals.Answer{Answer: host.AnswerAllow, Remember: host.TargetUser}); err == nil {
		t.Error("what was not offered is remembered")
	}
	answer(t, s, "Q1", approvals.Answer{Answer: host.AnswerAllow, Remember: host.TargetSession})
	if reply := ask(t, durable(s), question("Q2")); reply.Remember == nil || reply.Remember.Rules[0] != "Edit(//ws/a.txt)" {
		t.Errorf("%+v", reply)
	}
}

// TestAnswerHoldsForNothingElse changes one thing about the call each time.
func TestAnswerHoldsForNothingElse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*host.Approval){
		"another input or tool":    func(a *host.Approval) { a.Binding = "cd34" },
		"another session":          func(a *host.Approval) { a.Session = "t" },
		"another operation":        func(a *host.Approval) { a.Capability = "fs.write" },
		"one more access":          func(a *host.Approval) { a.Accesses = append(a.Accesses, access("/ws/b.txt")) },
		"another access":           func(a *host.Approval) { a.Accesses[0].Target = "/ws/b.txt" },
		"another real path":        func(a *host.Approval) { a.Accesses[0].Real = "/etc/passwd" },
		"a whole tree":             func(a *host.Approval) { a.Accesses[0].Tree = true },
		"a removal":                func(a *host.Approval) { a.Accesses[0].Removal = true },
		"another kind":             func(a *host.Approval) { a.Accesses[0].Kind = permissions.AccessRead },
		"a name that is no text":   func(a *host.Approval) { a.Accesses[0].Target = "/ws/\xff" },
		"a session with separator": func(a *host.Approval) { a.Session, a.Binding = "s\x00ab12", ""+"ab12" },
	} {
		s, _ := store(t, approvals.Options{})
		says(t, durable(s), question("Q1"), host.AnswerLater)
		answer(t, s, "Q1", allow())
		changed := question("Q2")
		change(&changed)
		if got := ask(t, durable(s), changed); got.Answer != host.AnswerLater {
			t.Errorf("%s: %s", name, got.Answer)
		}
		same := question("Q3")
		same.CallID = "toolu_2" // the model's name for it is nothing of the call
		if got := ask(t, durable(s), same); got.Answer != host.AnswerAllow {
			t.Errorf("%s: then the same call: %s", name, got.Answer)
		}
	}
	// Names that are no text look alike in JSON, and are not.
	s, _ := store(t, approvals.Options{})
	odd := question("Q1")
	odd.Accesses[0].Target = "/ws/\xff"
	says(t, durable(s), odd, host.AnswerLater)
	answer(t, s, "Q1", allow())
	for id, target := range map[string]string{"Q2": "/ws/\xfe", "Q3": "/ws/\uFFFD"} {
		other := question(id)
		other.Accesses[0].Target = target
		says(t, durable(s), other, host.AnswerLater)
	}
	odd.ID = "Q4"
	says(t, durable(s), odd, host.AnswerAllow)
	fewer := question("Q5", "/ws/b.txt")
	says(t, durable(s), fewer, host.AnswerLater)
	answer(t, s, "Q5", allow())
	fewer = question("Q6")
	says(t, durable(s), fewer, host.AnswerAllow)
}

// TestQuestionsWhileItRuns is a call that asks three times. Each run ends at the
// first question without an answer, and the next begins from the start.
func TestQuestionsWhileItRuns(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	number := 0
	step := func(capability, path string) host.Approval {
		number++
		a := question(fmt.Sprintf("Q%d", number))
		a.Capability, a.Accesses = capability, []permissions.Access{access(path)}
		return a
	}
	steps := [][2]string{{"", "/1"}, {"fs.write", "/2"}, {"fs.write", "/3"}}
	// run is one run of the call, by a process of its own.
	run := func() (answers []host.Answer) {
		d := durable(s)
		for _, st := range steps {
			got := ask(t, d, step(st[0], st[1])).Answer
			answers = append(answers, got)
			if got != host.AnswerAllow {
				return answers
			}
		}
		return answers
	}
	for want := range steps {
		got := run()
		if len(got) != want+1 || got[want] != host.AnswerLater {
			t.Fatalf("run %d: %v", want, got)
		}
		items, err := s.List()
		if err != nil || len(items) != 1 || len(items[0].Earlier) != want {
			t.Fatalf("run %d: %+v, %v", want, items, err)
		}
		answer(t, s, items[0].ID, allow())
	}
	if got := run(); len(got) != 3 || got[2] != host.AnswerAllow {
		t.Fatalf("the last run: %v", got)
	}
	if got := run(); len(got) != 1 || got[0] != host.AnswerLater {
		t.Fatalf("after it: %v", got)
	}
}

// TestRestOfAnAnswerIsUsedOnce asks the same twice in a run that was answered in
// advance.
func TestRestOfAnAnswerIsUsedOnce(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	second := func(id string) host.Approval {
		a := question(id)
		a.Capability = "fs.write"
		return a
	}
	says(t, durable(s), question("Q1"), host.AnswerLater)
	answer(t, s, "Q1", allow())
	d := durable(s)
	says(t, d, question("Q2"), host.AnswerAllow)
	says(t, d, second("Q3"), host.AnswerLater)
	answer(t, s, "Q3", allow())
	d = durable(s)
	says(t, d, question("Q4"), host.AnswerAllow)
	says(t, d, second("Q5"), host.AnswerAllow)
	says(t, d, second("Q6"), host.AnswerLater)
	d = durable(s)
	says(t, d, question("Q7"), host.AnswerLater)
}

// TestAskedAgain repeats a question that nobody answered: it is open once, under
// its last id.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	for i := range 5 {
		says(t, durable(s), question(fmt.Sprintf("Q%d", i)), host.AnswerLater)
	}
	open := 0
	items, err := s.List()
	for _, item := range items {
		if item.State == approvals.StatePending {
			open++
		}
	}
	if err != nil || open != 1 || len(items) != 2 {
		t.Errorf("%d open of %d, %v", open, len(items), err)
	}
	if err := s.Answer("Q3", allow()); !errors.Is(err, approvals.ErrAnswered) || !strings.Contains(err.Error(), "Q4") {
		t.Errorf("one that was asked anew: %v", err)
	}
	answer(t, s, "Q4", allow())
	says(t, durable(s), question("Q5"), host.AnswerAllow)
}

func TestAnswersThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	s, dir := store(t, approvals.Options{})
	says(t, durable(s), question("Q1"), host.AnswerLater)
	for name, test := range map[string]struct {
		id   string
		give approvals.Answer
		want error
	}{
		"no such":     {"Q2", allow(), approvals.ErrUnknown},
		"a traversal": {"../Q1", allow(), nil},
		"a file":      {"Q1.question", allow(), nil},
		"no id":       {"", allow(), nil},
		"a long id":   {strings.Repeat("Q", 65), allow(), nil},
		"later":       {"Q1", approvals.Answer{Answer: host.AnswerLater}, nil},
		"replaced":    {"Q1", approvals.Answer{Answer: "replaced"}, nil},
		"nothing":     {"Q1", approvals.Answer{}, nil},
		"too long":    {"Q1", approvals.Answer{Answer: host.AnswerDeny, Message: strings.Repeat("x", 1<<20)}, nil},
	} {
		if err := s.Answer(test.id, test.give); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"../Q1", "/etc/passwd", "Q1\x00", "Q.1"} {
		if _, err := s.Get(id); err == nil {
			t.Errorf("%q is taken", id)
		}
		if err := s.Forget(id); err == nil {
			t.Errorf("%q is forgotten", id)
		}
	}
	for name, change := range map[string]func(*host.Approval){
		"no session": func(a *host.Approval) { a.Session = "" },
		"no binding": func(a *host.Approval) { a.Binding = "" },
		"a bad id":   func(a *host.Approval) { a.ID = "../Q" },
		"too large":  func(a *host.Approval) { a.Preview = strings.Repeat("x", 17<<20) },
	} {
		a := question("Q7")
		change(&a)
		if reply, err := durable(s).Ask(t.Context(), asked(a)); err == nil {
			t.Errorf("%s: %+v", name, reply)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := s.Forget("Q1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Answer("Q1", allow()); !errors.Is(err, approvals.ErrUnknown) {
		t.Errorf("forgotten: %v", err)
	}
}

// TestCancelledAskUsesNothing asks for a call that is over.
func TestCancelledAskUsesNothing(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	says(t, durable(s), question("Q1"), host.AnswerLater)
	answer(t, s, "Q1", allow())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if reply, err := durable(s).Ask(ctx, asked(question("Q2"))); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", reply, err)
	}
	says(t, durable(s), question("Q3"), host.AnswerAllow)
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	s, dir := store(t, approvals.Options{Lifetime: time.Hour})
	synctest.Test(t, func(t *testing.T) {
		says(t, durable(s), question("Q1"), host.AnswerLater)
		time.Sleep(59 * time.Minute)
		answer(t, s, "Q1", allow())
		time.Sleep(time.Minute)
		says(t, durable(s), question("Q2"), host.AnswerLater) // the answer is too old
		time.Sleep(time.Hour)
		if err := s.Answer("Q2", allow()); !errors.Is(err, approvals.ErrExpired) {
			t.Errorf("an expired question: %v", err)
		}
		if items, err := s.List(); err != nil || len(items) != 2 || items[1].State != approvals.StateExpired {
			t.Errorf("%+v, %v", items, err)
		}
		if err := s.Sweep(); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}

func TestStoreIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{Max: 3, Lifetime: time.Hour})
	synctest.Test(t, func(t *testing.T) {
		other := func(i int) host.Approval {
			a := question(fmt.Sprintf("Q%d", i))
			a.Binding = fmt.Sprintf("%04d", i)
			return a
		}
		for i := range 3 {
			says(t, durable(s), other(i), host.AnswerLater)
		}
		if _, err := durable(s).Ask(t.Context(), asked(other(3))); !errors.Is(err, approvals.ErrFull) {
			t.Errorf("the fourth: %v", err)
		}
		time.Sleep(time.Hour)
		says(t, durable(s), other(4), host.AnswerLater) // the old ones are swept
	})
}

// TestOneAnswerWins has processes answer at once, several times.
func TestOneAnswerWins(t *testing.T) {
	t.Parallel()
	s, dir := store(t, approvals.Options{})
	for i := range 3 {
		id := fmt.Sprintf("Q%d", i)
		a := question(id)
		a.Binding = id
		says(t, durable(s), a, host.AnswerLater)
		verbs := []string{"allow", "deny", "allow", "deny"}
		cmds, outs := make([]*exec.Cmd, len(verbs)), make([]bytes.Buffer, len(verbs))
		for j, verb := range verbs {
			cmds[j] = inOtherProcess(t, dir, verb, id)
			cmds[j].Stderr = &outs[j]
			if err := cmds[j].Start(); err != nil {
				t.Fatal(err)
			}
		}
		var won []string
		for j, cmd := range cmds {
			if cmd.Wait() == nil {
				won = append(won, verbs[j])
			} else if !strings.Contains(outs[j].String(), "answered before") {
				t.Errorf("a loser is told %s", &outs[j])
			}
		}
		if len(won) != 1 {
			t.Fatalf("%v won", won)
		}
		if reply := ask(t, durable(s), a); string(reply.Answer) != won[0] {
			t.Errorf("%s won, and %s holds", won[0], reply.Answer)
		}
	}
}

// TestAnswerIsUsedOnce has goroutines and processes come with the same call.
func TestAnswerIsUsedOnce(t *testing.T) {
	t.Parallel()
	s, dir := store(t, approvals.Options{})
	for range 3 {
		says(t, durable(s), question("Q0"), host.AnswerLater)
		answer(t, s, "Q0", allow())
		var allowed atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				reply, err := durable(s).Ask(t.Context(), asked(question(fmt.Sprintf("R%d", i))))
				if err != nil {
					t.Error(err)
				}
				if reply.Answer == host.AnswerAllow {
					allowed.Add(1)
				}
			})
		}
		for range 3 {
			wg.Go(func() {
				out, err := inOtherProcess(t, dir, "ask", "s").Output()
				if err != nil {
					t.Error(err)
				}
				if string(out) == string(host.AnswerAllow) {
					allowed.Add(1)
				}
			})
		}
		wg.Wait()
		if allowed.Load() != 1 {
			t.Fatalf("it was allowed %d times", allowed.Load())
		}
		items, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		open := slices.DeleteFunc(slices.Clone(items), func(i approvals.Item) bool { return i.State != approvals.StatePending })
		if len(open) == 0 || open[len(open)-1].ID != items[len(items)-1].ID {
			t.Errorf("the newest of %d questions is not open", len(items))
		}
		for _, item := range items {
			if err := s.Forget(item.ID); err != nil && !errors.Is(err, approvals.ErrUnknown) {
				t.Fatal(err)
			}
		}
	}
}

// TestCrashWhileUsed leaves an answer as a process does that dies once it has
// used it.
func TestCrashWhileUsed(t *testing.T) {
	t.Parallel()
	s, dir := store(t, approvals.Options{})
	says(t, durable(s), question("Q1"), host.AnswerLater)
	answer(t, s, "Q1", allow())
	questions, err := filepath.Glob(filepath.Join(dir, "*.question"))
	if err != nil || len(questions) != 1 {
		t.Fatal(questions, err)
	}
	used := strings.TrimSuffix(questions[0], "question") + "used"
	if err := os.WriteFile(used, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, durable(s), question("Q2"), host.AnswerLater)
	if item, err := s.Get("Q1"); err != nil || item.State != approvals.StateUsed {
		t.Errorf("%s, %v", item.State, err)
	}
	if err := s.Answer("Q1", allow()); !errors.Is(err, approvals.ErrAnswered) {
		t.Errorf("answered again: %v", err)
	}
	// An answer that is left when its question is gone is none.
	if err := os.Remove(questions[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget("Q2"); err != nil {
		t.Fatal(err)
	}
	says(t, durable(s), question("Q3"), host.AnswerLater)
	long := time.Now().Add(-2 * time.Hour)
	left, err := filepath.Glob(filepath.Join(dir, "*.Q1.*"))
	if err != nil || len(left) != 2 {
		t.Fatal(left, err)
	}
	temporary := filepath.Join(dir, ".tmp-1234")
	if err := os.WriteFile(temporary, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(left, temporary) {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func patience(tb testing.TB) <-chan time.Time { tb.Helper(); return time.After(testenv.Patience) }
