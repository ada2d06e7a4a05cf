package capability_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

func options(labels ...string) []abi.ChoiceOption {
	var out []abi.ChoiceOption
	for _, label := range labels {
		out = append(out, abi.ChoiceOption{Label: label})
	}
	return out
}

func choice(questions ...abi.ChoiceQuestion) capability.Ask {
	return capability.Ask{Choice: &capability.Choice{Questions: questions}}
}

func plan(change ...func(*capability.PlanQuestion)) capability.Ask {
	p := &capability.PlanQuestion{Plan: "1. Mend it.", Modes: []permissions.Mode{permissions.ModeDefault, permissions.ModeAcceptEdits}}
	for _, c := range change {
		c(p)
	}
	return capability.Ask{Plan: p}
}

// wantFault holds an error to abi.CodeInvalidInput and a text; without a text there is none.
func wantFault(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAskCheck(t *testing.T) {
	t.Parallel()
	one := abi.ChoiceQuestion{Question: "Which?", Options: options("a", "b")}
	with := func(change func(*abi.ChoiceQuestion)) capability.Ask {
		q := one
		change(&q)
		return choice(q)
	}
	for name, test := range map[string]struct {
		ask  capability.Ask
		want string
	}{
		"a choice":          {choice(one), ""},
		"four questions":    {choice(one, abi.ChoiceQuestion{Question: "b", Options: one.Options}, abi.ChoiceQuestion{Question: "c", Options: one.Options}, abi.ChoiceQuestion{Question: "d", Options: one.Options}), ""},
		"twelve characters": {with(func(q *abi.ChoiceQuestion) { q.Header = strings.Repeat("\u00e9", 12) }), ""},
		"nothing":           {capability.Ask{}, "exactly one of"},
		"two things":        {capability.Ask{Choice: choice(one).Choice, Plan: plan().Plan}, "exactly one of"},
		"no question":       {choice(), "0 questions were given; ask 1 to 4"},
		"five":              {choice(one, one, one, one, one), "5 questions were given"},
		"100,000":           {choice(make([]abi.ChoiceQuestion, 100_000)...), "100000 questions were given"},
		"alike":             {choice(one, one), "question 2 is asked before"},
		"an empty one":      {with(func(q *abi.ChoiceQuestion) { q.Question = " \n" }), "question 1: the question is empty"},
		"a long one":        {with(func(q *abi.ChoiceQuestion) { q.Question = strings.Repeat("a", 2001) }), "has 2001 characters"},
		"a long header":     {with(func(q *abi.ChoiceQuestion) { q.Header = "thirteen char" }), "the header has 13 characters; at most 12"},
		"one option":        {with(func(q *abi.ChoiceQuestion) { q.Options = options("a") }), "1 options were given; give 2 to 4"},
		"five options":      {with(func(q *abi.ChoiceQuestion) { q.Options = options("a", "b", "c", "d", "e") }), "5 options were given"},
		"equal labels":      {with(func(q *abi.ChoiceQuestion) { q.Options = options("a", "a") }), `two options have the label "a"`},
		"labels in blanks":  {with(func(q *abi.ChoiceQuestion) { q.Options = options("a b", " a  b\n") }), `two options have the label "a b"`},
		"asked in blanks":   {choice(one, abi.ChoiceQuestion{Question: "Which? ", Options: one.Options}), "question 2 is asked before"},
		"an empty label":    {with(func(q *abi.ChoiceQuestion) { q.Options = options("a", "") }), "the label of option 2 is empty"},
		"a long description": {with(func(q *abi.ChoiceQuestion) {
			q.Options = []abi.ChoiceOption{{Label: "a"}, {Label: "b", Description: strings.Repeat("a", 2001)}}
		}), "the description of option 2"},
		"a plan":              {plan(), ""},
		"an empty plan":       {plan(func(p *capability.PlanQuestion) { p.Plan = "\t" }), "the plan is empty"},
		"a long plan":         {plan(func(p *capability.PlanQuestion) { p.Plan = strings.Repeat("a", capability.MaxPlan+1) }), "the plan has 1048577 bytes"},
		"no mode":             {plan(func(p *capability.PlanQuestion) { p.Modes = nil }), "0 were named"},
		"a proposal of none":  {plan(func(p *capability.PlanQuestion) { p.Proposals = make([]abi.PlanProposal, 1) }), "proposal 1 must have a tool and a prompt"},
		"very many proposals": {plan(func(p *capability.PlanQuestion) { p.Proposals = make([]abi.PlanProposal, 100_000) }), "100000 proposals"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFault(t, test.ask.Check(), test.want)
		})
	}
}

func TestAskAccept(t *testing.T) {
	t.Parallel()
	two := choice(abi.ChoiceQuestion{Question: "Which?", Options: options("a", "b")}, abi.ChoiceQuestion{Question: "All?", Options: options("c", "d"), MultiSelect: true})
	for name, test := range map[string]struct {
		ask           capability.Ask
		content       string
		want, wrongly string
	}{
		"labels":           {two, `{"answers":{"Which?":"a","All?":["c","d"]}}`, `{"answers":{"All?":["c","d"],"Which?":"a"}}`, ""},
		"one of many":      {two, `{"answers":{"Which?":["b"],"All?":"c"}}`, `{"answers":{"All?":["c"],"Which?":"b"}}`, ""},
		"own words":        {two, `{"answers":{"Which?":"none of them","All?":["c","and e"]}}`, `{"answers":{"All?":["c","and e"],"Which?":"none of them"}}`, ""},
		"a note":           {two, `{"answers":{"Which?":"a","All?":"c"},"notes":{"Which?":"for now"}}`, `{"answers":{"All?":["c"],"Which?":"a"},"notes":{"Which?":"for now"}}`, ""},
		"nothing":          {two, ``, "", "the answer must be"},
		"one missing":      {two, `{"answers":{"Which?":"a"}}`, "", `question 2: "All?" has none`},
		"an empty list":    {two, `{"answers":{"Which?":"a","All?":[]}}`, "", `question 2: "All?" has none`},
		"blank":            {two, `{"answers":{"Which?":" ","All?":"c"}}`, "", "question 1: it is empty"},
		"two of one":       {two, `{"answers":{"Which?":["a","b"],"All?":"c"}}`, "", `"Which?" takes one, and there are 2`},
		"one twice":        {two, `{"answers":{"Which?":"a","All?":["c","c"]}}`, "", `"c" is chosen twice`},
		"too many":         {two, `{"answers":{"Which?":"a","All?":["1","2","3","4","5","6"]}}`, "", "there are 6"},
		"long words":       {two, `{"answers":{"Which?":"` + strings.Repeat("a", 10_001) + `","All?":"c"}}`, "", "has 10001 characters"},
		"not asked":        {two, `{"answers":{"Which?":"a","All?":"c","Why?":"d"}}`, "", `an answer to "Why?", which is not asked`},
		"a note on none":   {two, `{"answers":{"Which?":"a","All?":"c"},"notes":{"Why?":"d"}}`, "", `a note on "Why?"`},
		"another field":    {two, `{"answer":{}}`, "", "unknown field"},
		"a number":         {two, `{"answers":{"Which?":1,"All?":"c"}}`, "", "the answer must be"},
		"a plan":           {plan(), ``, `{"mode":"default"}`, ""},
		"into a mode":      {plan(), `{"mode":"acceptEdits"}`, `{"mode":"acceptEdits"}`, ""},
		"edited":           {plan(), `{"plan":"2. Leave it."}`, `{"plan":"2. Leave it.","mode":"default"}`, ""},
		"as it was":        {plan(), `{"plan":"1. Mend it."}`, `{"mode":"default"}`, ""},
		"with a rule":      {plan(), `{"rules":["Bash(go test:*)"]}`, `{"mode":"default","rules":["Bash(go test:*)"]}`, ""},
		"another mode":     {plan(), `{"mode":"bypassPermissions"}`, "", "cannot be accepted into the mode"},
		"edited away":      {plan(), `{"plan":" "}`, "", "the plan is empty"},
		"a broken rule":    {plan(), `{"rules":["Bash("]}`, "", "rule 1:"},
		"very many rules":  {plan(), `{"rules":["Read"` + strings.Repeat(`,"Read"`, 50) + `]}`, "", "51 rules were given"},
		"content of a URL": {capability.Ask{URL: &capability.URLQuestion{Message: "Go", URL: "https://example.com"}}, `{}`, "", "has no content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.ask.Accept(json.RawMessage(test.content))
			wantFault(t, err, test.wrongly)
			if test.wrongly == "" && string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestAskClone changes all of a copy, and nothing of the question.
func TestAskClone(t *testing.T) {
	t.Parallel()
	for _, ask := range []capability.Ask{
		choice(abi.ChoiceQuestion{Question: "Which?", Options: options("a", "b")}), plan(func(p *capability.PlanQuestion) { p.Proposals = []abi.PlanProposal{{Tool: "Bash", Prompt: "test"}} }),
		{Form: &capability.Form{Message: "m", Schema: json.RawMessage(`{}`)}}, {URL: &capability.URLQuestion{Message: "m", URL: "u"}},
	} {
		before, err := json.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		c := ask.Clone()
		switch c.AskedKind() {
		case capability.QuestionChoice:
			c.Choice.Questions[0].Options[0].Label, c.Choice.Questions[0].Question = "x", "x"
		case capability.QuestionPlan:
			c.Plan.Proposals[0].Tool, c.Plan.Modes[0], c.Plan.Plan = "x", "x", "x"
		case capability.QuestionForm:
			c.Form.Schema[0], c.Form.Message = 'x', "x"
		case capability.QuestionURL:
			c.URL.URL = "x"
		}
		after, err := json.Marshal(ask)
		if err != nil || string(after) != string(before) {
			t.Errorf("%s became %s, %v", before, after, err)
		}
	}
}

func TestClosedCapabilities(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		abi.CapSessionCwd: false, abi.CapSessionTodo: false, abi.CapSessionTask: false, abi.CapSessionMessage: false,
		abi.CapSessionPlan: true, abi.CapSessionQuestion: true, abi.CapSessionConfig: true, abi.CapSessionOutput: true,
		"session.cron": true, "agent.run": true, "team.send": true, "fs.read": false, "task.stop": false, "sessions": false,
	} {
		if got := abi.Closed(name); got != want {
			t.Errorf("%s is closed: %v", name, got)
		}
	}
}
