package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

const personSchema = `{"type":"object","required":["name"],"properties":{
	"name":{"type":"string","minLength":2,"title":"Your name"},
	"colour":{"type":"string","enum":["red","green"],"default":"green"}}}`

func form(schema string) host.Ask {
	return host.Ask{Form: &host.Form{Message: "Who are you?", Schema: json.RawMessage(schema)}}
}

func visit(url string) host.Ask {
	return host.Ask{URL: &host.URLQuestion{Message: "Sign in.", URL: url}}
}

// curious is a tool that asks a question and tells the answer.
func curious(name string, q host.Ask, change ...func(*abi.Tool)) host.NativeTool {
	tool := echo(name, change...)
	tool.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		reply, err := c.Ask(ctx, q)
		if err != nil {
			return abi.ToolResult{}, err
		}
		return text(string(reply.Answer) + " " + string(reply.Content) + reply.Message), nil
	}
	return tool
}

// anyone answers questions of every kind by a function.
type anyone func(context.Context, host.Question) (host.Reply, error)

func (anyone) Carries(host.QuestionKind) bool { return true }

func (a anyone) Ask(ctx context.Context, q host.Question) (host.Reply, error) { return a(ctx, q) }

var yesReply = host.Reply{Answer: host.AnswerAllow}

func fills(content any) host.Reply {
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return host.Reply{Answer: host.AnswerAllow, Content: raw}
}

// replies answers every question the same way.
func replies(r host.Reply) host.Asker {
	return anyone(func(context.Context, host.Question) (host.Reply, error) { return r, nil })
}

// person carries some kinds, and answers by a function.
type person struct {
	kinds  []host.QuestionKind
	answer anyone
}

func (p person) Carries(kind host.QuestionKind) bool { return slices.Contains(p.kinds, kind) }

func (p person) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	return p.answer(ctx, q)
}

func gives(r host.Reply, err error, kinds ...host.QuestionKind) person {
	return person{kinds, func(context.Context, host.Question) (host.Reply, error) { return r, err }}
}

func TestCallAsks(t *testing.T) {
	t.Parallel()
	good, both := form(personSchema), []host.QuestionKind{host.QuestionForm, host.QuestionURL}
	for name, test := range map[string]struct {
		question host.Ask
		asker    host.Asker
		text     string
		code     abi.Code
		unasked  bool // nobody was asked
	}{
		"a form":               {good, replies(fills(map[string]any{"name": "Ann"})), `allow {"colour":"green","name":"Ann"}`, "", false},
		"a form declined":      {good, replies(host.Reply{Answer: host.AnswerDeny, Message: "ask my boss"}), "deny ask my boss", "", false},
		"too short":            {good, replies(fills(map[string]any{"name": "A"})), `"name": it must have at least 2 characters`, abi.CodeInvalidInput, false},
		"an unknown field":     {good, replies(fills(map[string]any{"name": "Ann", "age": 3})), `"age", which is no field`, abi.CodeInvalidInput, false},
		"nothing":              {good, replies(yesReply), `lacks "name"`, abi.CodeInvalidInput, false},
		"a URL":                {visit("https://example.com/in?a=1"), replies(yesReply), "allow ", "", false},
		"a URL declined":       {visit("https://example.com/"), replies(host.Reply{Answer: host.AnswerDeny}), "deny ", "", false},
		"dismissed":            {good, gives(host.Reply{}, host.ErrDismissed, both...), "the person dismissed the question", abi.CodeCancelled, false},
		"later":                {good, gives(host.Reply{Answer: host.AnswerLater}, nil, both...), "a person must answer this first", abi.CodeNeedsApproval, false},
		"a panic":              {good, person{both, func(context.Context, host.Question) (host.Reply, error) { panic("oh") }}, "the asker panicked: oh", abi.CodeCancelled, false},
		"nobody after all":     {good, gives(host.Reply{}, host.ErrNobody, both...), "there is nobody to ask", abi.CodeUnsupported, false},
		"nobody":               {good, nil, "there is nobody to ask", abi.CodeUnsupported, true},
		"of another kind":      {good, gives(host.Reply{}, nil, host.QuestionURL), "the kind form has no answer here", abi.CodeUnsupported, true},
		"of approvals alone":   {visit("https://example.com"), yes(), "the kind url has no answer here", abi.CodeUnsupported, true},
		"a bad schema":         {form(`{"type":"object","properties":{"a":{"type":"object"}}}`), replies(host.Reply{}), `property "a": its type cannot be "object"`, abi.CodeInvalidInput, true},
		"a relative URL":       {visit("/in"), replies(host.Reply{}), "must be a whole one", abi.CodeInvalidInput, true},
		"a URL of a script":    {visit("javascript:alert(1)"), replies(host.Reply{}), "must be a whole one", abi.CodeInvalidInput, true},
		"a URL with a user":    {visit("https://bank.com@evil.com/"), replies(host.Reply{}), "must name no user", abi.CodeInvalidInput, true},
		"a URL that looks odd": {visit("https://ex\u0430mple.com/"), replies(host.Reply{}), `the character '\u0430'`, abi.CodeInvalidInput, true},
		"two questions":        {host.Ask{Form: good.Form, URL: visit("https://example.com").URL}, replies(host.Reply{}), "exactly one of", abi.CodeInvalidInput, true},
		"no question":          {host.Ask{}, replies(host.Reply{}), "exactly one of", abi.CodeInvalidInput, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, open(t, host.Options{Tools: []host.NativeTool{curious("Curious", test.question)}}), host.SessionOptions{Asker: test.asker})
			r, events := one(t, s, "Curious", `{}`)
			if test.code != "" {
				wantError(t, r, test.code, test.text)
			} else if r.IsError || r.Text() != test.text {
				t.Errorf("got %q, want %q", r.Text(), test.text)
			}
			asked, answered := of(events, host.EventQuestion), of(events, host.EventAnswered)
			if want := 1 - len(asked); (want == 1) != test.unasked || len(answered) != len(asked) {
				t.Errorf("%d questions, %d answers", len(asked), len(answered))
			}
			if len(asked) == 1 && answered[0].Question.ID != asked[0].Question.ID {
				t.Error("the answer is of another question")
			}
		})
	}
}

// TestQuestionsAreCopies has an asker change all that it was given: the answer is held to the
// form that was asked, which is told to those who follow.
func TestQuestionsAreCopies(t *testing.T) {
	t.Parallel()
	asker := anyone(func(_ context.Context, q host.Question) (host.Reply, error) {
		q.Form.Message = "Your password?"
		copy(q.Form.Schema, strings.Repeat(" ", len(q.Form.Schema)))
		copy(q.Input, "  ")
		return fills(map[string]string{"name": "A"}), nil
	})
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{curious("Curious", form(personSchema))}}), host.SessionOptions{Asker: asker})
	r, events := one(t, s, "Curious", `{}`)
	wantError(t, r, abi.CodeInvalidInput, "at least 2 characters")
	if told := of(events, host.EventQuestion)[0].Question; told.Form.Message != "Who are you?" || string(told.Form.Schema) != personSchema || string(told.Input) != "{}" {
		t.Errorf("told %+v", told)
	}
}

// TestQuestionSaysWhoAsks has the person told which call of which session asks.
func TestQuestionSaysWhoAsks(t *testing.T) {
	t.Parallel()
	var questions []host.Question
	asker := anyone(func(_ context.Context, q host.Question) (host.Reply, error) {
		questions = append(questions, q)
		return yesReply, nil
	})
	var s *host.Session
	outer := echo("Outer")
	outer.Run = func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
		return s.Results(ctx, []abi.ToolUse{use("inner", "Inner", `{}`)})[0], nil
	}
	h := open(t, host.Options{Tools: []host.NativeTool{outer, curious("Inner", visit("https://example.com"))}})
	s = session(t, h, host.SessionOptions{Asker: asker})
	r, _ := one(t, s, "Outer", `{}`)
	if r.IsError || len(questions) != 1 {
		t.Fatalf("%q, and %d questions", r.Text(), len(questions))
	}
	q := questions[0]
	if q.Kind != host.QuestionURL || q.Session != s.ID() || q.Call != "inner" || q.Parent != "c1" || q.Depth != 1 || q.Agent != host.MainAgent || q.Chain != s.ID() || q.Turn == "" || q.Tool != "Inner" ||
		q.ID == "" || q.Binding == "" || string(q.Input) != `{}` || q.Cwd != s.Cwd() || q.Mode != permissions.ModeDefault || time.Since(q.Asked) > testenv.Patience {
		t.Errorf("%+v", q)
	}
}

// TestCapabilityAsks has an embedder's capability ask, on behalf of a guest whose time stands
// still meanwhile.
func TestCapabilityAsks(t *testing.T) {
	t.Parallel()
	asking := &asksFirst{form: *form(personSchema).Form}
	asker := anyone(func(_ context.Context, q host.Question) (host.Reply, error) {
		if q.Kind != host.QuestionForm || q.Plugin != "fixture" || q.Tool != "Fixture" {
			t.Errorf("asked %+v", q)
		}
		time.Sleep(2500 * time.Millisecond) // more than the guest has
		return fills(map[string]string{"name": "Ann"}), nil
	})
	h := open(t, host.Options{
		Capabilities: []capability.Capability{asking},
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+"read_only = true\n"+fixtureCapability+"\n[limits]\ntime = \"2s\"\n")},
			Granted: []string{"fixture"},
		},
	})
	r, events := one(t, session(t, h, host.SessionOptions{Asker: asker}), "Fixture", `{}`)
	if r.IsError || asking.said != `{"colour":"green","name":"Ann"}` {
		t.Errorf("%q, %q", r.Text(), asking.said)
	}
	clocks := of(events, host.EventFinished)[0].Clocks
	if clocks.Person < 2500*time.Millisecond || clocks.Capability > clocks.Person {
		t.Errorf("the person took %s, the capability %s", clocks.Person, clocks.Capability)
	}
}

// asksFirst answers test.echo once the person has filled in a form.
type asksFirst struct {
	testCapability

	form host.Form
	said string
}

func (a *asksFirst) Plan(_ context.Context, s capability.Scope, _ abi.Request) (capability.Plan, error) {
	return asksPlan{a, s.Person}, nil
}

type asksPlan struct {
	*asksFirst
	person capability.Person
}

func (asksPlan) Accesses() []permissions.Access { return nil }
func (asksPlan) Close() error                   { return nil }

func (p asksPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	reply, err := p.person.Ask(ctx, capability.Ask{Form: &p.form})
	p.said = string(reply.Content)
	return abi.Answer{OK: struct{}{}}, err
}

// TestQuestionHoldsNoSlot has others run while a person thinks.
func TestQuestionHoldsNoSlot(t *testing.T) {
	t.Parallel()
	ran := make(chan struct{})
	other := echo("Other")
	other.Run = func(context.Context, *host.Call) (abi.ToolResult, error) {
		close(ran)
		return abi.ToolResult{}, nil
	}
	asker := anyone(func(ctx context.Context, _ host.Question) (host.Reply, error) {
		select {
		case <-ran:
			return yesReply, nil
		case <-ctx.Done():
			return host.Reply{}, ctx.Err()
		}
	})
	h := open(t, host.Options{
		Tools:  []host.NativeTool{curious("Curious", visit("https://example.com")), other},
		Limits: host.LimitOptions{MaxConcurrent: 1, CallTimeout: testenv.Patience},
	})
	results := session(t, h, host.SessionOptions{Asker: asker}).Results(t.Context(), []abi.ToolUse{use("1", "Curious", `{}`), use("2", "Other", `{}`)})
	if results[0].IsError || results[1].IsError {
		t.Errorf("%q, %q", results[0].Text(), results[1].Text())
	}
}

// TestInterruptEndsQuestions interrupts while a person is asked by a call that an interrupt
// ends, and by one that it does not: that goes on, without an answer. What comes later is no
// answer any more.
func TestInterruptEndsQuestions(t *testing.T) {
	t.Parallel()
	for _, ends := range []abi.Interrupt{abi.InterruptCancel, abi.InterruptBlock} {
		for _, heeds := range []bool{true, false} {
			late := make(chan struct{})
			asker := anyone(func(ctx context.Context, _ host.Question) (host.Reply, error) {
				if heeds {
					<-ctx.Done()
					return host.Reply{}, ctx.Err()
				}
				<-late
				return yesReply, nil
			})
			tool := curious("Curious", visit("https://example.com"), func(c *abi.Tool) { c.Interrupt = ends })
			s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Asker: asker})
			stream := s.Stream(t.Context())
			if err := stream.Add(use("c1", "Curious", `{}`)); err != nil {
				t.Fatal(err)
			}
			stream.Close()
			var result *abi.ToolResult
			for e := range stream.Events() {
				switch e.Kind {
				case host.EventQuestion:
					stream.Interrupt()
				case host.EventResult:
					result = e.Result
				}
			}
			close(late)
			wantError(t, *result, abi.CodeInterrupted, "interrupted")
			if blocked := strings.Contains(result.Text(), "the question is over"); blocked != (ends == abi.InterruptBlock) {
				t.Errorf("%s: %q", ends, result.Text())
			}
		}
	}
}

// TestQuestionEndsWithItsCall has a tool ask under a context that does not end, and return.
func TestQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	asked, withdrawn := make(chan struct{}), make(chan struct{})
	asker := anyone(func(ctx context.Context, _ host.Question) (host.Reply, error) {
		close(asked)
		<-ctx.Done()
		close(withdrawn)
		return host.Reply{}, ctx.Err()
	})
	tool := echo("Leaves")
	tool.Run = func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		go func() { _, _ = c.Ask(context.Background(), visit("https://example.com")) }()
		<-asked
		return text("gone"), nil
	}
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Asker: asker})
	if r, _ := one(t, s, "Leaves", `{}`); r.Text() != "gone" {
		t.Error(r.Text())
	}
	select {
	case <-withdrawn:
	case <-time.After(testenv.Patience):
		t.Error("the question is still open")
	}
}

// TestQuestionsAtOnce has many calls ask while turns are interrupted, cancelled and run to
// their end: each call has one result, each question one end, with the call's at the latest.
func TestQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	asker := anyone(func(ctx context.Context, q host.Question) (host.Reply, error) {
		select {
		case <-time.After(time.Duration(len(q.ID)+int(q.ID[0])%5) * 100 * time.Microsecond):
			return yesReply, nil
		case <-ctx.Done():
			return host.Reply{}, ctx.Err()
		}
	})
	block := func(c *abi.Tool) { c.Interrupt = abi.InterruptBlock }
	h := open(t, host.Options{
		Tools:  []host.NativeTool{curious("Ends", visit("https://example.com")), curious("Blocks", visit("https://example.com"), block)},
		Limits: host.LimitOptions{MaxConcurrent: 2},
	})
	var wg sync.WaitGroup
	for n := range 30 {
		wg.Go(func() {
			s := session(t, h, host.SessionOptions{Asker: asker})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream := s.Stream(ctx)
			for i := range 6 {
				if err := stream.Add(use(string(rune('a'+i)), []string{"Ends", "Blocks"}[i%2], `{}`)); err != nil {
					t.Error(err)
				}
			}
			stream.Close()
			results, open, ended := 0, map[string]bool{}, map[string]bool{}
			for e := range stream.Events() {
				switch e.Kind {
				case host.EventResult:
					results++
				case host.EventFinished: // ends its question, too
					ended[e.CallID] = true
					delete(open, e.CallID)
				case host.EventAnswered:
					if !open[e.CallID] {
						t.Errorf("an answer to no open question of %s", e.CallID)
					}
					delete(open, e.CallID)
				case host.EventQuestion:
					if open[e.CallID] = true; ended[e.CallID] {
						t.Errorf("%s asks after its end", e.CallID)
					}
					switch n % 3 {
					case 1:
						stream.Interrupt()
					case 2:
						cancel()
					}
				}
			}
			if results != 6 || len(open) != 0 {
				t.Errorf("%d results, %d questions without an end", results, len(open))
			}
		})
	}
	wg.Wait()
}

// TestNobodyAfterAll has an asker that cannot ask be as none: the denial names the rule that
// would allow the call.
func TestNobodyAfterAll(t *testing.T) {
	t.Parallel()
	tool := echo("Put", func(c *abi.Tool) { c.ReadOnly = abi.TraitFalse })
	h := open(t, host.Options{Tools: []host.NativeTool{tool}})
	headless, _ := one(t, session(t, h, host.SessionOptions{}), "Put", `{}`)
	wantError(t, headless, abi.CodeNeedsApproval, "Put")
	for name, asker := range map[string]host.Asker{
		"said by it":      gives(host.Reply{}, errors.Join(errors.New("no screen"), host.ErrNobody), host.QuestionApproval),
		"said before":     gives(host.Reply{}, nil),
		"for other kinds": gives(host.Reply{}, nil, host.QuestionForm),
	} {
		r, events := one(t, session(t, h, host.SessionOptions{Asker: asker}), "Put", `{}`)
		if r.Text() != headless.Text() || r.Error.Code != headless.Error.Code {
			t.Errorf("%s: %q, without an asker %q", name, r.Text(), headless.Text())
		}
		decided := of(events, host.EventDecided)
		if last := decided[len(decided)-1].Decision; last.Verdict != permissions.Deny || !last.Headless {
			t.Errorf("%s: it is decided as %+v", name, last)
		}
	}
}

// TestToolsThatNeedAPerson are offered where something can be asked.
func TestToolsThatNeedAPerson(t *testing.T) {
	t.Parallel()
	needs := echo("Needs", func(c *abi.Tool) { c.RequiresUser = true })
	h := open(t, host.Options{Tools: []host.NativeTool{echo("Any"), needs}})
	for name, test := range map[string]struct {
		asker host.Asker
		want  string
	}{
		"headless":         {nil, "Any"},
		"carrying nothing": {gives(host.Reply{}, nil), "Any"},
		"approvals alone":  {yes(), "Any Needs"},
		"forms alone":      {gives(host.Reply{}, nil, host.QuestionForm), "Any Needs"},
	} {
		s := session(t, h, host.SessionOptions{Asker: test.asker})
		wantOffered(t, s, test.want)
		r, _ := one(t, s, "Needs", `{"s":"x"}`)
		if test.want == "Any" {
			wantError(t, r, abi.CodeDisabled, "Needs needs a person, and there is nobody to ask")
		} else if r.Text() != "x" {
			t.Errorf("%s: %q", name, r.Text())
		}
	}
}
