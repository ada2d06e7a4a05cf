package host_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// writes answers every question with an input of its own, the first time it is asked.
type writes struct {
	input string
	asked []string
}

func (*writes) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (w *writes) Ask(_ context.Context, question host.Question) (host.Reply, error) {
	a := *question.Approval
	w.asked = append(w.asked, string(a.Input))
	r := host.Reply{Answer: host.AnswerAllow}
	if len(w.asked) == 1 {
		r.Input = json.RawMessage(w.input)
	}
	return r, nil
}

// TestIntegersReachTools has everybody see the input as the tool gets it, with integers
// written as such: who is asked, who follows, and the tool. So too with what a person
// writes in its place.
func TestIntegersReachTools(t *testing.T) {
	t.Parallel()
	var got []string
	contract := abi.Tool{
		Name: "Wait", InputSchema: `{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}},"required":["n"]}`, Strict: true,
	}
	tool := host.NativeTool{Contract: contract, Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
		got = append(got, string(c.Input))
		return abi.ToolResult{}, nil
	}}
	h := open(t, host.Options{
		Tools:       []host.NativeTool{tool},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Ask: permissions.RuleTexts("Wait")}}},
	})
	person := &writes{input: `{"n": 2e1, "m": null}`}
	r, events := one(t, session(t, h, host.SessionOptions{Asker: person}), "Wait", `{"m": null, "n": 10.0}`)
	if r.IsError || len(got) != 1 || got[0] != `{"n":20}` {
		t.Errorf("the tool got %q: %s", got, r.Text())
	}
	if len(person.asked) == 0 || person.asked[0] != `{"n":10}` {
		t.Errorf("asked about %q", person.asked)
	}
	for _, e := range events {
		want := map[host.EventKind]string{host.EventQueued: `{"n":10}`, host.EventRewritten: `{"n":20}`}[e.Kind]
		if want != "" && string(e.Input) != want {
			t.Errorf("%s tells of %s", e.Kind, e.Input)
		}
	}
	if r, _ := one(t, session(t, h, host.SessionOptions{Asker: person}), "Wait", `{"n": null}`); abi.CodeOf(r.Error) != abi.CodeInvalidInput {
		t.Errorf("a required null: %s", r.Text())
	}
}
