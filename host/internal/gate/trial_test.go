package gate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
)

// confining is a desk whose commands run wholly confined.
type confining struct{ *desk }

func (confining) Confined(*permissions.Policy, *gate.Subject) bool { return true }

// layered is a log that also records layers.
type layered struct {
	*desk
	layers []string
}

func (l *layered) Record(s *gate.Subject, d *permissions.Decision, by string) error {
	l.layers = append(l.layers, d.Verdict.String()+" "+string(d.Layer))
	return l.desk.Record(s, d, by)
}

// making returns a subject that runs make.
func making() *gate.Subject {
	s := painting("", "/w/x")
	s.Call.Tool = "Bash"
	s.Accesses = []permissions.Access{{Kind: permissions.AccessExec, Target: "make"}}
	s.Commands = []permissions.Command{{Text: "make", Parts: []permissions.Part{{Words: []permissions.Word{{Text: "make"}}}}}}
	return s
}

// TestStood lets a trial that changed nothing decide, by the rules as they are when it has ended.
func TestStood(t *testing.T) {
	t.Parallel()
	setup := func(contained permissions.Contained, deny string) permissions.Setup {
		o := permissions.Setup{Contained: contained}
		if deny != "" {
			o.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts(deny)}}
		}
		return o
	}
	for name, test := range map[string]struct {
		contained permissions.Contained
		later     *permissions.Setup // the rules when the trial has ended
		headless  bool
		asked     int
		want      abi.Code
		layers    string
	}{
		"it stands":         {contained: "run", layers: "ask mode, allow contained"},
		"a person decides":  {contained: "ask", asked: 1, layers: "ask mode, allow approval"},
		"headless":          {contained: "run", headless: true, layers: "allow contained"},
		"headless, asks":    {contained: "ask", headless: true, want: abi.CodeNeedsApproval, layers: "deny mode"},
		"headless, denied":  {contained: "run", headless: true, later: new(setup("run", "Bash(make)")), want: abi.CodeDenied, layers: "deny rule"},
		"forbidden by then": {contained: "run", later: new(setup("off", "")), asked: 1, layers: "ask mode, allow approval"},
		"denied by then":    {contained: "run", later: new(setup("run", "Bash(make)")), want: abi.CodeDenied, layers: "ask mode, deny rule"},
	} {
		d := newDesk(t, setup(test.contained, ""))
		g, log := d.gate(!test.headless), &layered{desk: d}
		g.Files, g.Log = confining{d}, log
		s, ended := making(), 0
		s.Rehearse = func(_ context.Context, s *gate.Subject) (func(), error) {
			if !g.Tries(s) {
				t.Errorf("%s: it is not tried", name)
			}
			if test.later != nil {
				d.set(compile(t, *test.later))
			}
			s.Tried = "it was tried"
			return func() { ended++ }, &gate.Stood{Why: "it changed nothing"}
		}
		d.answers <- gate.Answer{Allow: true}
		err := g.Permit(t.Context(), s)
		if code(err) != test.want || len(d.asked) != test.asked || (ended != 1) != (test.headless && test.contained == "ask") || strings.Join(log.layers, ", ") != test.layers {
			t.Errorf("%s: %v, asked %d times, ended %d times, logged %q", name, err, len(d.asked), ended, log.layers)
		}
		if test.asked > 0 {
			if q := <-d.asked; !slices.Contains(q.Reasons(), "It was tried.") {
				t.Errorf("%s: the question says %q", name, q.Reasons())
			}
		}
		if err := g.Stands(s); test.want == "" && err != nil {
			t.Errorf("%s: later, %v", name, err)
		}
	}
	// A trial no longer stands once a rule asks about the command, or the setting wants a question.
	for name, later := range map[string]permissions.Setup{
		"an ask rule": {Contained: "run", Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Ask: permissions.RuleTexts("Bash(make)")}}},
		"a setting":   {Contained: "ask"},
		"another one": {Contained: "off"},
	} {
		d := newDesk(t, setup("run", ""))
		g := d.gate(true)
		g.Files = confining{d}
		s := making()
		s.Rehearse = func(context.Context, *gate.Subject) (func(), error) {
			return nil, &gate.Stood{Why: "it changed nothing"}
		}
		if err := g.Permit(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		d.set(compile(t, later))
		d.Renew()
		if err := g.Stands(s); code(err) != abi.CodeNeedsApproval {
			t.Errorf("after %s: %v", name, err)
		}
	}
}
