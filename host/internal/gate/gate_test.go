package gate_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/permissions"
)

// desk is everything a [gate.Gate] needs, without a call, a session or a file system.
type desk struct {
	mu      sync.Mutex
	policy  *permissions.Policy // the rules by now
	view    gate.View           // as they were when they were renewed last
	changed chan struct{}
	decides int // how often the files were asked about, which each judgement does once

	logged  []string
	logFail error
	unheard bool
	warned  []string

	answers  chan gate.Answer
	asked    chan *gate.Question
	closed   error
	withdrew chan struct{}
}

func newDesk(t *testing.T, o permissions.Setup) *desk {
	t.Helper()
	d := &desk{
		changed: make(chan struct{}), answers: make(chan gate.Answer, 9), asked: make(chan *gate.Question, 9), withdrew: make(chan struct{}, 9),
	}
	d.policy = compile(t, o)
	d.view.Policy = d.policy
	return d
}

func compile(t *testing.T, o permissions.Setup) *permissions.Policy {
	t.Helper()
	o.Cwd = permissions.Dir{Path: "/w", Real: "/w"}
	o.Tools = []permissions.Tool{{Name: "Paint", Properties: []string{"path"}, Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectWrite}}}}
	policy, _, err := permissions.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// set puts other rules into force.
func (d *desk) set(p *permissions.Policy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.policy = p
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *desk) Now() *gate.View { return &d.view }

func (d *desk) Renew() *gate.View {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.view.Policy = d.policy
	return &d.view
}

func (d *desk) Changed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

func (d *desk) Protected(*permissions.Policy, []permissions.Access) []string {
	d.decides++
	return nil
}

func (*desk) Clear(*permissions.Policy, *gate.Subject) []permissions.Access { return nil }

func (*desk) Confined(*permissions.Policy, *gate.Subject) bool { return false }

func (d *desk) Unheard() bool { return d.unheard }

func (d *desk) Record(s *gate.Subject, made *permissions.Decision, by string) error {
	d.logged = append(d.logged, strings.TrimSpace(made.Verdict.String()+" "+by))
	if made.Verdict == permissions.Deny {
		return nil
	}
	return d.logFail
}

func (d *desk) Warn(text string) { d.warned = append(d.warned, text) }

func (d *desk) Ask(ctx context.Context, q *gate.Question) <-chan gate.Answer {
	context.AfterFunc(ctx, func() { d.withdrew <- struct{}{} })
	d.asked <- q
	return d.answers
}

func (*desk) Waiting(_ *gate.Subject, do func()) { do() }

func (d *desk) Closed() error { return d.closed }

// gate is a gate that stands on the desk, with a person or without.
func (d *desk) gate(person bool) *gate.Gate {
	g := &gate.Gate{Policies: d, Files: d, Approvals: &gate.Approvals{}, Log: d}
	if person {
		g.Asker = d
	}
	return g
}

// paint is the tool.
type paint struct{}

func (paint) Definition() [sha256.Size]byte { return sha256.Sum256([]byte("Paint")) }

// painting is a call that writes a file, or a capability call of it.
func painting(operation, path string) *gate.Subject {
	call := &gate.Call{
		Tool: "Paint", Origin: permissions.Origin{Builtin: true}, Input: json.RawMessage(`{"path":"x"}`),
		Definition: paint{},
		Effects:    permissions.EffectsGated,
	}
	return &gate.Subject{
		Call: call, Operation: operation,
		Accesses: []permissions.Access{{Kind: permissions.AccessWrite, Target: path, Real: path}},
	}
}

func rules(verdict permissions.Verdict, texts ...string) permissions.Setup {
	set := permissions.RuleSet{Source: permissions.SourceUser}
	switch list := permissions.RuleTexts(texts...); verdict {
	case permissions.Allow:
		set.Allow = list
	case permissions.Deny:
		set.Deny = list
	default:
		set.Ask = list
	}
	return permissions.Setup{Rules: []permissions.RuleSet{set}}
}

func code(err error) abi.Code {
	if err == nil {
		return ""
	}
	return abi.CodeOf(err)
}

// TestPermit takes a call through the gate.
func TestPermit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		setup  permissions.Setup
		person bool
		answer gate.Answer
		code   abi.Code
		says   string
		logged string
	}{
		"allowed by a rule":       {setup: rules(permissions.Allow, "Edit(//w/x)"), logged: "allow"},
		"denied by a rule":        {setup: rules(permissions.Deny, "Edit(//w/x)"), person: true, code: abi.CodeDenied, logged: "deny"},
		"headless":                {code: abi.CodeNeedsApproval, logged: "deny"},
		"the person allows":       {person: true, answer: gate.Answer{Allow: true}, logged: "ask, allow person"},
		"the person denies":       {person: true, code: abi.CodeDenied, says: "the person denied this", logged: "ask, deny person"},
		"and says why":            {person: true, answer: gate.Answer{Message: "not red"}, code: abi.CodeDenied, says: "not red", logged: "ask, deny person"},
		"the person answers late": {person: true, answer: gate.Answer{Later: true}, code: abi.CodeNeedsApproval, says: "approval", logged: "ask, deny nobody"},
		"the asker fails":         {person: true, answer: gate.Answer{Err: errors.New("no terminal")}, code: abi.CodeDenied, says: "no terminal", logged: "ask, deny"},
		"there is nobody": {
			person: true, answer: gate.Answer{Err: errors.New("no terminal"), Nobody: true},
			code: abi.CodeNeedsApproval, says: "It needs the allow rule Edit(//w/x)", logged: "ask, deny",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, test.setup)
			d.answers <- test.answer
			err := d.gate(test.person).Permit(t.Context(), painting("", "/w/x"))
			if code(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q with %q", err, test.code, test.says)
			}
			if got := strings.Join(d.logged, ", "); got != test.logged {
				t.Errorf("logged %q, want %q", got, test.logged)
			}
		})
	}
}

// TestDecideOnce holds that one judgement serves the whole way through the gate, as long
// as nothing changes.
func TestDecideOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, rules(permissions.Allow, "Edit(//w/x)"))
	g, s := d.gate(true), painting("", "/w/x")
	early := g.Decide(s)
	g.Speculate(t.Context(), s, early)
	if err := g.Permit(t.Context(), s); err != nil || d.decides != 1 {
		t.Errorf("judged %d times, %v", d.decides, err)
	}
	s.Recheck()
	if g.Decide(s); d.decides != 2 {
		t.Errorf("judged %d times after the files may have changed", d.decides)
	}
	d.policy = compile(t, rules(permissions.Deny, "Paint"))
	g.Policies.Renew()
	if got := g.Decide(s); got.Verdict != permissions.Deny {
		t.Errorf("%v by rules that deny it now", got.Verdict)
	}
}

// TestApprovedOnce holds that what a person allowed or denied is not asked about again,
// and counts for nothing else.
func TestApprovedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permissions.Setup{})
	g := d.gate(true)
	d.answers <- gate.Answer{Allow: true}
	for range 2 {
		if err := g.Permit(t.Context(), painting("fs.write", "/w/x")); err != nil {
			t.Fatal(err)
		}
	}
	d.answers <- gate.Answer{}
	for range 2 {
		if err := g.Permit(t.Context(), painting("fs.write", "/w/y")); code(err) != abi.CodeDenied {
			t.Fatal(err)
		}
	}
	if len(d.asked) != 2 {
		t.Errorf("asked %d times", len(d.asked))
	}
	g.Approvals.Reset()
	d.answers <- gate.Answer{Allow: true}
	if err := g.Permit(t.Context(), painting("fs.write", "/w/x")); err != nil || len(d.asked) != 3 {
		t.Errorf("%v, asked %d times after the input changed", err, len(d.asked))
	}
}

// offering is what a running call was refused.
func offering() *gate.Subject {
	s := painting("shell.run", "")
	s.Accesses = []permissions.Access{{Kind: permissions.AccessNet, Target: "example.org"}}
	s.Offer = &gate.Offer{Why: "it was refused", Rules: []string{"WebFetch(domain:example.org)"}}
	return s
}

// TestOffer asks whatever rules allow, and takes nothing but a person's yes for one.
func TestOffer(t *testing.T) {
	t.Parallel()
	everything := rules(permissions.Allow, "Paint")
	for name, test := range map[string]struct {
		setup    permissions.Setup
		mode     permissions.Mode
		headless bool
		answer   gate.Answer
		yes      bool
		says     string
		asked    int
		logged   string
	}{
		"yes":                      {answer: gate.Answer{Allow: true}, yes: true, asked: 1, logged: "ask, allow person"},
		"yes, for what is allowed": {setup: everything, answer: gate.Answer{Allow: true}, yes: true, asked: 1, logged: "ask, allow person"},
		"no":                       {setup: everything, answer: gate.Answer{}, says: "the person denied this", asked: 1, logged: "ask, deny person"},
		"later":                    {answer: gate.Answer{Later: true}, says: "approval", asked: 1, logged: "ask, deny nobody"},
		"a rule denies it":         {setup: rules(permissions.Deny, "Paint")},
		"nobody is there":          {setup: everything, headless: true},
		"nobody, as it turns out":  {setup: everything, answer: gate.Answer{Err: errors.New("no screen"), Nobody: true}, asked: 1, logged: "ask, deny"},
		"nobody is asked":          {setup: everything, mode: permissions.ModeDontAsk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.setup.Mode = test.mode
			d := newDesk(t, test.setup)
			d.answers <- test.answer
			yes, err := d.gate(!test.headless).Offer(t.Context(), offering())
			if yes != test.yes || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %t, %v", yes, err)
			}
			if got := strings.Join(d.logged, ", "); got != test.logged || len(d.asked) != test.asked {
				t.Errorf("logged %q after %d questions", got, len(d.asked))
			}
			if test.asked > 0 {
				if q := <-d.asked; !slices.Equal(q.Reasons(), []string{"It was refused."}) || !slices.Equal(q.Explanation.Remedy, offering().Offer.Rules) {
					t.Errorf("the question is %q, with %q", q.Reasons(), q.Explanation.Remedy)
				}
			}
		})
	}
}

// TestOfferStands keeps an offer open while rules come that allow it, and ends it with one that
// denies it.
func TestOfferStands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permissions.Setup{})
	g, ended := d.gate(true), make(chan error, 1)
	go func() {
		_, err := g.Offer(t.Context(), offering())
		ended <- err
	}()
	<-d.asked
	d.set(compile(t, rules(permissions.Allow, "Paint", "WebFetch(domain:example.org)")))
	select {
	case err := <-ended:
		t.Fatalf("a rule answered it: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	d.set(compile(t, rules(permissions.Deny, "Paint")))
	if err := <-ended; code(err) != abi.CodeDenied {
		t.Errorf("got %v", err)
	}
}

// TestWithdrawn has rules come to decide a question that is open.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		setup permissions.Setup
		code  abi.Code
	}{
		"allow": {rules(permissions.Allow, "Edit(//w/**)"), ""},
		"deny":  {rules(permissions.Deny, "Paint"), abi.CodeDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, permissions.Setup{})
			ended := make(chan error, 1)
			go func() { ended <- d.gate(true).Permit(t.Context(), painting("", "/w/x")) }()
			<-d.asked
			d.set(compile(t, test.setup))
			if err := <-ended; code(err) != test.code {
				t.Errorf("got %v", err)
			}
			<-d.withdrew
		})
	}
}

// TestCallOver ends a call while its question is open.
func TestCallOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permissions.Setup{})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.gate(true).Permit(ctx, painting("", "/w/x")) }()
	<-d.asked
	cancel(errors.New("the user left"))
	if err := <-ended; code(err) != abi.CodeCancelled || !strings.Contains(err.Error(), "the user left") {
		t.Errorf("got %v", err)
	}
	<-d.withdrew
	if got := strings.Join(d.logged, ", "); got != "ask, deny nobody" {
		t.Errorf("logged %q", got)
	}
}

// TestClosed puts no question where the turn has been stopped.
func TestClosed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permissions.Setup{})
	d.closed = abi.Errorf(abi.CodeCancelled, "the turn is stopped")
	d.answers <- gate.Answer{Allow: true}
	if err := d.gate(true).Permit(t.Context(), painting("", "/w/x")); code(err) != abi.CodeCancelled {
		t.Errorf("got %v", err)
	}
}

// TestRewritten has the person write another input, which begins the call anew.
func TestRewritten(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permissions.Setup{})
	g := d.gate(true)
	d.answers <- gate.Answer{Allow: true, Input: json.RawMessage(`{"path":"y"}`)}
	err := g.Permit(t.Context(), painting("", "/w/x"))
	r, ok := errors.AsType[*gate.Rewritten](err)
	if !ok || !r.ByPerson || string(r.Input) != `{"path":"y"}` {
		t.Errorf("got %v", err)
	}
	if len(g.Approvals.Allowed()) != 0 || !slices.Contains(d.logged, "deny person") {
		t.Errorf("allowed %v, logged %v", g.Approvals.Allowed(), d.logged)
	}
	d.answers <- gate.Answer{Allow: true, Input: json.RawMessage(` { "path" : "x" } `)}
	if err := g.Permit(t.Context(), painting("", "/w/x")); err != nil {
		t.Errorf("the same input in other words: %v", err)
	}
}

// TestRehearsalEnds ends a call by what its rehearsal showed, without a question.
func TestRehearsalEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permissions.Setup{})
	fails, ended := errors.New("it would fail"), 0
	s := painting("", "/w/x")
	s.Rehearse = func(context.Context, *gate.Subject) (func(), error) { return nil, fails }
	if err := d.gate(true).Permit(t.Context(), s); !errors.Is(err, fails) || len(d.asked) != 0 {
		t.Errorf("%v, asked %d times", err, len(d.asked))
	}
	s = painting("", "/w/x")
	s.Rehearse = func(_ context.Context, s *gate.Subject) (func(), error) {
		s.Preview = "+red"
		return func() { ended++ }, nil
	}
	d.answers <- gate.Answer{Allow: true}
	if err := d.gate(true).Permit(t.Context(), s); err != nil || ended != 1 {
		t.Errorf("%v, ended %d times", err, ended)
	}
	if q := <-d.asked; q.Subject.Preview != "+red" {
		t.Errorf("the question shows %q", q.Subject.Preview)
	}
}

// TestUnlogged lets nothing take effect that could not be logged.
func TestUnlogged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, rules(permissions.Allow, "Edit(//w/**)"))
	d.logFail = errors.New("the disk is full")
	if err := d.gate(true).Permit(t.Context(), painting("", "/w/x")); !errors.Is(err, d.logFail) {
		t.Errorf("got %v", err)
	}
}

// TestStands judges a call again that has waited.
func TestStands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, rules(permissions.Allow, "Edit(//w/**)"))
	g, s := d.gate(true), painting("", "/w/x")
	if err := errors.Join(g.Permit(t.Context(), s), g.Stands(s)); err != nil {
		t.Fatal(err)
	}
	d.policy = compile(t, permissions.Setup{})
	g.Policies.Renew()
	if err := g.Stands(s); code(err) != abi.CodeNeedsApproval && code(err) != abi.CodeDenied {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(d.logged, ", "); got != "allow, ask, deny nobody" {
		t.Errorf("logged %q", got)
	}
}

// model is a judge's model that answers the same to everything.
type model struct {
	mu     sync.Mutex
	answer string
	asked  int
}

func (m *model) Complete(context.Context, judge.Prompt) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	return m.answer, nil
}

// TestJudge asks the judge once about a call and what it then does.
func TestJudge(t *testing.T) {
	t.Parallel()
	m := &model{answer: `{"verdict":"allow","reason":"it is only paint"}`}
	j, err := judge.New(judge.Options{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, permissions.Setup{Mode: permissions.ModeAuto})
	g := d.gate(true)
	g.Judge = gate.NewConsultation(j)
	outside := "/elsewhere/x"
	s := painting("", outside)
	early := g.Decide(s)
	g.Speculate(t.Context(), s, early)
	if err := g.Permit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := g.Permit(t.Context(), painting("fs.write", outside)); err != nil {
		t.Fatal(err)
	}
	if m.asked != 1 || len(d.asked) != 0 {
		t.Errorf("the judge was asked %d times, the person %d times: %v", m.asked, len(d.asked), d.logged)
	}
	if got := strings.Join(d.logged, ", "); got != "allow judge, allow judge" {
		t.Errorf("logged %q", got)
	}
}
