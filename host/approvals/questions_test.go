package approvals_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/permissions"
)

// form is a question of the call that question asks about.
func form(id, message string) host.Question {
	q := asked(question(id))
	q.Kind, q.Approval = host.QuestionForm, nil
	q.Form = &host.Form{Message: message, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","default":7}},"required":["n"]}`)}
	return q
}

func visit(id, url string) host.Question {
	q := form(id, "")
	q.Kind, q.Form, q.URL = host.QuestionURL, nil, &host.URLQuestion{Message: "Sign in", URL: url}
	return q
}

// askingFor is a question of the same call that asks something else.
func askingFor(id string, kind host.QuestionKind, what host.Ask) host.Question {
	q := form(id, "")
	q.Kind, q.Ask = kind, what
	return q
}

// TestChoicesAndPlansLater keeps each for later, whole, and gives the answer once.
func TestChoicesAndPlansLater(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	choice := host.Ask{Choice: &host.Choice{Questions: []abi.ChoiceQuestion{{Question: "Which?", Options: []abi.ChoiceOption{{Label: "a"}, {Label: "b"}}}}}}
	plan := host.Ask{Plan: &host.PlanQuestion{Plan: "Mend it.", Modes: []permissions.Mode{permissions.ModeDefault}}}
	gets(t, durable(s), askingFor("Q1", host.QuestionChoice, choice), host.AnswerLater, "")
	gets(t, durable(s), askingFor("Q2", host.QuestionPlan, plan), host.AnswerLater, "")
	if err := s.Answer("Q1", content(`{"answers":{"Why?":"a"}}`)); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Errorf("an answer to another question: %v", err)
	}
	answer(t, s, "Q1", content(`{"answers":{"Which?":["a"]}}`))
	answer(t, s, "Q2", content(`{"plan":"Leave it."}`))
	items, err := s.List()
	if err != nil || len(items) != 2 || !reflect.DeepEqual(items[0].Question(), choice) || !reflect.DeepEqual(items[1].Question(), plan) {
		t.Fatalf("got %+v, %v", items, err)
	}
	gets(t, durable(s), askingFor("Q3", host.QuestionChoice, choice), host.AnswerAllow, `{"answers":{"Which?":"a"}}`)
	gets(t, durable(s), askingFor("Q4", host.QuestionPlan, plan), host.AnswerAllow, `{"mode":"default","plan":"Leave it."}`)
	gets(t, durable(s), askingFor("Q5", host.QuestionChoice, choice), host.AnswerLater, "")
}

func content(text string) approvals.Answer {
	return approvals.Answer{Answer: host.AnswerAllow, Content: json.RawMessage(text)}
}

// gets wants an answer, and what was filled in.
func gets(t *testing.T, asker host.Asker, q host.Question, want host.Answer, filled string) {
	t.Helper()
	reply, err := asker.Ask(t.Context(), q)
	if err != nil || reply.Answer != want || string(reply.Content) != filled {
		t.Fatalf("question %s: %s %s, %v; want %s %s", q.ID, reply.Answer, reply.Content, err, want, filled)
	}
}

// TestFormsAndURLsLater keeps each for later, and gives the answer once.
func TestFormsAndURLsLater(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	gets(t, durable(s), form("Q1", "How many?"), host.AnswerLater, "")
	answer(t, s, "Q1", content(`{"n":3}`))
	gets(t, durable(s), form("Q2", "How much?"), host.AnswerLater, "") // another question
	gets(t, durable(s), form("Q3", "How many?"), host.AnswerAllow, `{"n":3}`)
	gets(t, durable(s), form("Q4", "How many?"), host.AnswerLater, "")
	answer(t, s, "Q4", approvals.Answer{Answer: host.AnswerDeny, Message: "no"})
	gets(t, durable(s), form("Q5", "How many?"), host.AnswerDeny, "")
	gets(t, durable(s), visit("Q6", "https://example.com/"), host.AnswerLater, "")
	answer(t, s, "Q6", allow())
	gets(t, durable(s), visit("Q7", "https://example.com/x"), host.AnswerLater, "")
	gets(t, durable(s), visit("Q8", "https://example.com/"), host.AnswerAllow, "")
	for id, give := range map[string]approvals.Answer{
		`"n": it must be a whole number`:                content(`{"n":1.5}`),
		`"m", which is no field`:                        content(`{"n":1,"m":2}`),
		"only an answer that accepts what a tool asked": {Answer: host.AnswerDeny, Content: json.RawMessage(`{"n":1}`)},
		"only a denial of an approval ends":             {Answer: host.AnswerDeny, EndTurn: true},
		"offers nothing to remember for \"user":         {Answer: host.AnswerAllow, Remember: host.TargetUser},
	} {
		if err := s.Answer("Q2", give); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("%+v: %v; want %q", give, err, id)
		}
	}
	if err := s.Answer("Q7", content(`{"n":1}`)); err == nil {
		t.Error("a URL has content")
	}
	answer(t, s, "Q2", content("")) // its default
	gets(t, durable(s), form("Q9", "How much?"), host.AnswerAllow, `{"n":7}`)
}

// TestAnswersOfARun has a run ask an approval, a form, a URL and another form, each in a run of
// its own: what was answered holds again in each of them.
func TestAnswersOfARun(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	ask := []func(id string) host.Question{
		func(id string) host.Question { return asked(question(id)) },
		func(id string) host.Question { return form(id, "How many?") },
		func(id string) host.Question { return visit(id, "https://example.com/") },
		func(id string) host.Question { return form(id, "How much?") },
	}
	give := []approvals.Answer{allow(), content(`{"n":1}`), {Answer: host.AnswerDeny}, content(`{"n":2}`)}
	want := []host.Answer{host.AnswerAllow, host.AnswerAllow, host.AnswerDeny, host.AnswerAllow}
	filled := []string{"", `{"n":1}`, "", `{"n":2}`}
	for run := range len(ask) + 1 {
		d := durable(s) // as in a new process
		for i := range ask {
			id := "R" + string(rune('0'+run)) + string(rune('0'+i))
			if i < run {
				gets(t, d, ask[i](id), want[i], filled[i])
				continue
			}
			gets(t, d, ask[i](id), host.AnswerLater, "")
			answer(t, s, id, give[i])
			break
		}
	}
}

// TestDenialAfterAForm has an approval denied in a run that asked a form before.
func TestDenialAfterAForm(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	runs := question("Q2")
	runs.Capability = "fs.write"
	gets(t, durable(s), form("Q1", "How many?"), host.AnswerLater, "")
	answer(t, s, "Q1", content(`{"n":1}`))
	d := durable(s)
	gets(t, d, form("Q3", "How many?"), host.AnswerAllow, `{"n":1}`)
	gets(t, d, asked(runs), host.AnswerLater, "")
	answer(t, s, "Q2", approvals.Answer{Answer: host.AnswerDeny, Message: "not there"})
	d = durable(s)
	gets(t, d, form("Q4", "How many?"), host.AnswerAllow, `{"n":1}`)
	runs.ID = "Q5"
	if reply := ask(t, d, runs); reply.Answer != host.AnswerDeny || reply.Message != "not there" {
		t.Errorf("%+v", reply)
	}
}

// TestBrokenForms has files that say something else than they are.
func TestBrokenForms(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"another form":       {"How many?", "Your password?"},
		"of another kind":    {`"kind":"form"`, `"kind":"url"`},
		"of an unknown kind": {`"kind":"form"`, `"kind":"else"`},
		"as an approval":     {`"kind":"form",`, ``},
	} {
		s, dir := store(t, approvals.Options{})
		gets(t, durable(s), form("Q1", "How many?"), host.AnswerLater, "")
		files, err := filepath.Glob(filepath.Join(dir, "*.question"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil || !strings.Contains(string(text), change[0]) {
			t.Fatalf("%s, %v", text, err)
		}
		if err := os.WriteFile(files[0], []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if item, err := s.Get("Q1"); err == nil {
			t.Errorf("%s: it is read as %+v", name, item)
		}
	}
}

// TestKindsOfWays has each way say what it carries, and put no other question.
func TestKindsOfWays(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	function := approvals.Func(func(context.Context, host.Approval) (host.Reply, error) { return yes, nil })
	anyone := approvals.AnyFunc(func(context.Context, host.Question) (host.Reply, error) { return yes, nil })
	for name, test := range map[string]struct {
		asker host.Asker
		forms bool
	}{
		"a function":                {function, false},
		"a denial":                  {approvals.Deny("away"), false},
		"a function for all":        {anyone, true},
		"later":                     {durable(s), true},
		"later, before a function":  {durable(s).Before(function), false},
		"a function, then later":    {approvals.WithTimeout(function, time.Minute, durable(s)), true},
		"all, then a denial":        {approvals.WithTimeout(anyone, time.Minute, approvals.Deny("away")), true},
		"a coordinator":             {approvals.NewCoordinator(anyone, 0).Worker("a"), true},
		"a coordinator of approval": {approvals.NewCoordinator(function, 0).Worker("a"), false},
	} {
		if !test.asker.Carries(host.QuestionApproval) || test.asker.Carries(host.QuestionForm) != test.forms || test.asker.Carries(host.QuestionURL) != test.forms {
			t.Errorf("%s carries something else", name)
		}
		if _, err := test.asker.Ask(t.Context(), form("Q1", "How many?")); errors.Is(err, host.ErrNobody) == test.forms {
			t.Errorf("%s: %v", name, err)
		}
	}
	if durable(s).Carries("else") {
		t.Error("a question that nobody knows is kept")
	}
	unknown := host.Question{ID: "Q1", Kind: "else", Session: "s", Binding: "b"}
	if _, err := durable(s).Ask(t.Context(), unknown); !errors.Is(err, host.ErrNobody) {
		t.Error(err)
	}
}

// TestFormsAreNotShared has two workers ask the same form: each gets an answer of its own.
func TestFormsAreNotShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var shown []string
		n := 0
		c := approvals.NewCoordinator(approvals.AnyFunc(func(_ context.Context, q host.Question) (host.Reply, error) {
			shown = append(shown, q.Worker)
			n++
			return host.Reply{Answer: host.AnswerAllow, Content: json.RawMessage(`{"n":` + string(rune('0'+n)) + `}`)}, nil
		}), 0)
		gets(t, c.Worker("one"), form("Q1", "How many?"), host.AnswerAllow, `{"n":1}`)
		gets(t, c.Worker("two"), form("Q2", "How many?"), host.AnswerAllow, `{"n":2}`)
		if strings.Join(shown, " ") != "one two" {
			t.Errorf("shown of %v", shown)
		}
	})
}

// TestFormInTime has a form whose person does not answer end, where the other way cannot ask it.
func TestFormInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asker := approvals.WithTimeout(approvals.AnyFunc(func(ctx context.Context, _ host.Question) (host.Reply, error) {
			<-ctx.Done()
			return host.Reply{}, ctx.Err()
		}), time.Minute, approvals.Deny("away"))
		if reply, err := asker.Ask(t.Context(), form("Q1", "How many?")); err == nil || err.Error() != "nobody answered within 1m0s" || abi.CodeOf(err) == abi.CodeDenied {
			t.Errorf("%+v, %v", reply, err)
		}
	})
}

// TestTriedLater stores a question whose command was tried without the trial's outcome and
// preview: the trial no longer exists when somebody answers.
func TestTriedLater(t *testing.T) {
	t.Parallel()
	s, _ := store(t, approvals.Options{})
	asked := question("Q1")
	asked.Tried, asked.Reasons = true, []string{"It was tried.", "This mode asks."}
	says(t, durable(s), asked, host.AnswerLater)
	items, err := s.List()
	if err != nil || len(items) != 1 || items[0].Preview != "" || !slices.Equal(items[0].Reasons, []string{"This mode asks."}) {
		t.Errorf("%+v, %v", items, err)
	}
}
