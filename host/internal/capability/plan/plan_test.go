package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/plan"
	"github.com/toolquay/toolquay/permissions"
)

// planning is a session that plans, which notes what is done to it, in order.
type planning struct {
	mode  permissions.Mode
	file  string
	did   []string
	fails string // what of it fails
	reply capability.Reply
	asked capability.Ask
}

func (p *planning) do(what string) error {
	p.did = append(p.did, what)
	if p.fails != "" && strings.HasPrefix(what, p.fails) {
		return errors.New("no space left on device")
	}
	return nil
}

func (p *planning) Mode() permissions.Mode { return p.mode }

func (p *planning) Enter() (bool, error) {
	was := p.mode
	p.mode = permissions.ModePlan
	return was == permissions.ModePlan, p.do("enter")
}

func (p *planning) Into() []permissions.Mode {
	return []permissions.Mode{permissions.ModeDefault, permissions.ModeAcceptEdits}
}

func (p *planning) Leave(into permissions.Mode, rules []string) error {
	if err := p.do("leave " + string(into) + strings.Join(rules, ",")); err != nil {
		return err
	}
	p.mode = into
	return nil
}

func (p *planning) Path() (string, error) { return "/s/plan.md", p.do("path") }
func (p *planning) Read() (string, error) { return p.file, nil }

func (p *planning) Write(_ context.Context, text string) error {
	if err := p.do("write " + text); err != nil {
		return err
	}
	p.file = text
	return nil
}

func (p *planning) Ask(_ context.Context, a capability.Ask) (capability.Reply, error) {
	p.asked = a
	return p.reply, p.do("ask")
}

func (p *planning) scope() capability.Scope {
	return capability.Scope{Person: p, PlanMode: p, PlanFile: p, Call: capability.Call{Caller: permissions.Caller{Agent: permissions.MainAgent}}}
}

// do makes one request.
func do(t *testing.T, scope capability.Scope, name, args string) (ok, body string, err error) {
	t.Helper()
	p, err := plan.New().Plan(t.Context(), scope, abi.Request{Name: name, Args: json.RawMessage(args)})
	if err != nil {
		return "", "", err
	}
	defer p.Close()
	for _, a := range p.Accesses() {
		if a.Kind != permissions.AccessSession {
			t.Errorf("it touches %v", a)
		}
	}
	answer, err := p.Do(t.Context(), nil)
	if err != nil {
		return "", "", err
	}
	head, err := json.Marshal(answer.OK)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	if answer.Body != nil {
		if text, err = io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
	}
	return string(head), string(text), nil
}

func TestEnter(t *testing.T) {
	t.Parallel()
	p := &planning{mode: permissions.ModeAuto}
	for _, want := range []string{`{"path":"/s/plan.md","mode":"plan"}`, `{"path":"/s/plan.md","mode":"plan","already":true}`} {
		if ok, _, err := do(t, p.scope(), abi.CapSessionPlan, `{"do":"enter"}`); err != nil || ok != want {
			t.Errorf("got %s, %v; want %s", ok, err, want)
		}
	}
	p = &planning{mode: permissions.ModeAuto}
	scope := p.scope()
	scope.Rehearse = true
	if ok, _, err := do(t, scope, abi.CapSessionPlan, `{"do":"enter"}`); err != nil || ok != `{"path":"/s/plan.md","mode":"plan"}` || p.mode != permissions.ModeAuto {
		t.Errorf("a rehearsal: %s, %v, and the mode is %s", ok, err, p.mode)
	}
	p.fails = "path"
	if _, _, err := do(t, p.scope(), abi.CapSessionPlan, `{"do":"enter"}`); abi.CodeOf(err) != abi.CodeIO || p.mode != permissions.ModeAuto {
		t.Errorf("without a place: %v, and the mode is %s", err, p.mode)
	}
}

// TestExit: what the person accepted is on the disk before the mode changes, and where one of the
// two fails the mode stays.
func TestExit(t *testing.T) {
	t.Parallel()
	accept := func(content string) capability.Reply {
		return capability.Reply{Accepted: true, Content: json.RawMessage(content)}
	}
	for name, test := range map[string]struct {
		reply    capability.Reply
		fails    string
		did      []string
		ok, body string
		code     abi.Code
	}{
		"as it is": {accept(`{}`), "", []string{"path", "ask", "leave default"}, `{"path":"/s/plan.md","mode":"default"}`, "Mend it.", ""},
		"edited": {
			accept(`{"plan":"Leave it.","mode":"acceptEdits","rules":["Bash(make)"]}`), "",
			[]string{"path", "ask", "write Leave it.", "leave acceptEditsBash(make)"},
			`{"path":"/s/plan.md","mode":"acceptEdits","edited":true,"rules":["Bash(make)"]}`, "Leave it.", "",
		},
		"declined":     {capability.Reply{Message: "no"}, "", []string{"path", "ask"}, `{"path":"/s/plan.md","mode":"plan","declined":true,"message":"no"}`, "", ""},
		"a full disk":  {accept(`{"plan":"Leave it."}`), "write", []string{"path", "ask", "write Leave it."}, "", "", abi.CodeIO},
		"another mode": {accept(`{"mode":"auto"}`), "", []string{"path", "ask"}, "", "", abi.CodeInvalidInput},
		"no leaving":   {accept(`{}`), "leave", []string{"path", "ask", "leave default"}, "", "", abi.CodeInternal},
		"nobody":       {capability.Reply{}, "ask", []string{"path", "ask"}, "", "", abi.CodeInternal},
		"no place":     {capability.Reply{}, "path", []string{"path"}, "", "", abi.CodeIO},
	} {
		p := &planning{mode: permissions.ModePlan, file: "Mend it.", reply: test.reply, fails: test.fails}
		ok, body, err := do(t, p.scope(), abi.CapSessionPlan, `{"do":"exit","proposals":[{"tool":"Bash","prompt":"test"}]}`)
		if ok != test.ok || body != test.body || (err != nil) != (test.code != "") || err != nil && abi.CodeOf(err) != test.code {
			t.Errorf("%s: %s %s %v", name, ok, body, err)
		}
		if !slices.Equal(p.did, test.did) {
			t.Errorf("%s: it did %q, want %q", name, p.did, test.did)
		}
		if left := p.mode != permissions.ModePlan; left != (test.body != "") {
			t.Errorf("%s: the mode is %s", name, p.mode)
		}
		if name == "as it is" && len(p.asked.Plan.Proposals) != 1 {
			t.Errorf("the person is shown %+v", p.asked.Plan)
		}
	}
}

// TestChangedWhileAsked: the plan file ends up with what the person was shown.
func TestChangedWhileAsked(t *testing.T) {
	t.Parallel()
	p := &planning{mode: permissions.ModePlan, file: "Mend it.", reply: capability.Reply{Accepted: true}}
	scope := p.scope()
	scope.Person = meddler{p}
	if _, body, err := do(t, scope, abi.CapSessionPlan, `{"do":"exit"}`); err != nil || body != "Mend it." || p.file != "Mend it." {
		t.Errorf("%q, %v, and the file has %q", body, err, p.file)
	}
}

// meddler writes the plan file while the person is asked.
type meddler struct{ *planning }

func (m meddler) Ask(ctx context.Context, a capability.Ask) (capability.Reply, error) {
	m.file = "Do something else."
	return m.planning.Ask(ctx, a)
}

// TestEndedWhileAccepted: an interrupt that comes while the plan is kept leaves the mode.
func TestEndedWhileAccepted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &planning{mode: permissions.ModePlan, file: "Mend it.", reply: capability.Reply{Accepted: true}}
	scope := p.scope()
	scope.PlanFile = interrupter{p, cancel}
	exit, err := plan.New().Plan(ctx, scope, abi.Request{Name: abi.CapSessionPlan, Args: json.RawMessage(`{"do":"exit"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exit.Do(ctx, nil); abi.CodeOf(err) != abi.CodeCancelled || p.mode != permissions.ModePlan {
		t.Errorf("%v, and the mode is %s", err, p.mode)
	}
}

// interrupter ends the call when the plan is read again.
type interrupter struct {
	*planning
	cancel context.CancelFunc
}

func (i interrupter) Read() (string, error) {
	if i.asked.Plan != nil {
		i.cancel()
	}
	return i.planning.Read()
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	const args = `{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}],"multiSelect":true}]}`
	p := &planning{reply: capability.Reply{Accepted: true, Content: json.RawMessage(`{"answers":{"Which?":["b","c"]},"notes":{"Which?":"n"}}`)}}
	want := `{"answers":[{"question":"Which?","chosen":["b","c"],"note":"n"}]}`
	if ok, _, err := do(t, p.scope(), abi.CapSessionQuestion, args); err != nil || ok != want {
		t.Errorf("%s, %v", ok, err)
	}
	p.reply = capability.Reply{Message: "neither"}
	if ok, _, err := do(t, p.scope(), abi.CapSessionQuestion, args); err != nil || ok != `{"declined":true,"message":"neither"}` {
		t.Errorf("%s, %v", ok, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	p := &planning{mode: permissions.ModePlan, file: "Mend it."}
	rehearsal := p.scope()
	rehearsal.Rehearse = true
	for name, test := range map[string]struct {
		scope     capability.Scope
		op, args  string
		code      abi.Code
		complains string
	}{
		"another operation":  {p.scope(), "session.mode", `{}`, abi.CodeUnsupported, "session.mode"},
		"another deed":       {p.scope(), abi.CapSessionPlan, `{"do":"leave"}`, abi.CodeInvalidInput, `"leave"`},
		"no JSON":            {p.scope(), abi.CapSessionPlan, `{`, abi.CodeInvalidInput, "arguments"},
		"no session":         {capability.Scope{}, abi.CapSessionPlan, `{"do":"enter"}`, abi.CodeUnsupported, "no session"},
		"a rehearsed exit":   {rehearsal, abi.CapSessionPlan, `{"do":"exit"}`, abi.CodeUnsupported, "nobody"},
		"a rehearsed ask":    {rehearsal, abi.CapSessionQuestion, `{"questions":[{"question":"x","options":[{"label":"a"},{"label":"b"}]}]}`, abi.CodeUnsupported, "nobody"},
		"no question":        {p.scope(), abi.CapSessionQuestion, `{}`, abi.CodeInvalidInput, "0 questions"},
		"an empty proposal":  {p.scope(), abi.CapSessionPlan, `{"do":"exit","proposals":[{}]}`, abi.CodeInvalidInput, "proposal 1"},
		"very many of those": {p.scope(), abi.CapSessionPlan, `{"do":"exit","proposals":[` + strings.Repeat(`{},`, 99_999) + `{}]}`, abi.CodeInvalidInput, "100000 proposals"},
	} {
		_, _, err := do(t, test.scope, test.op, test.args)
		if abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.complains) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if slices.Contains(p.did, "ask") {
		t.Errorf("somebody was asked: %q", p.did)
	}
}
