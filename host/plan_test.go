package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// recorder is a person who answers questions of every kind by a function, and is known by what
// they were asked.
type recorder struct {
	answer anyone

	mu  sync.Mutex
	all []host.Question
}

func (*recorder) Carries(host.QuestionKind) bool { return true }

func (r *recorder) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	r.mu.Lock()
	r.all = append(r.all, q)
	r.mu.Unlock()
	return r.answer(ctx, q)
}

// Questions are those that they were asked so far.
func (r *recorder) Questions() []host.Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

func declines(words string) host.Reply { return host.Reply{Answer: host.AnswerDeny, Message: words} }

// planner is a session with the tools in the box, whose person answers what it asks beside
// permissions by a function, and allows everything else.
func planner(t *testing.T, o host.SessionOptions, change func(*host.Options), answer func(q host.Question) host.Reply) (*host.Session, *recorder) {
	t.Helper()
	options := host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}}
	if change != nil {
		change(&options)
	}
	asker := &recorder{answer: func(_ context.Context, q host.Question) (host.Reply, error) {
		if q.Kind == host.QuestionApproval {
			return yesReply, nil
		}
		return answer(q), nil
	}}
	o.Asker = asker
	return session(t, open(t, options), o), asker
}

// call runs one call, whose result must be no error.
func call(t *testing.T, s *host.Session, tool, input string) abi.ToolResult {
	t.Helper()
	r, _ := one(t, s, tool, input)
	if r.IsError {
		t.Fatalf("%s: %s", tool, r.Text())
	}
	return r
}

// writePlan has the model write the plan file, which the last call of EnterPlanMode named.
func writePlan(t *testing.T, s *host.Session, plan string) string {
	t.Helper()
	path := filepath.Join(s.Dir(), "plan.md")
	input, err := json.Marshal(map[string]string{"file_path": path, "content": plan})
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "Write", string(input))
	return path
}

func fields(t *testing.T, r abi.ToolResult) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(r.Structured, &out); err != nil {
		t.Fatalf("%s: %v", r.Structured, err)
	}
	return out
}

func TestPlanIsAccepted(t *testing.T) {
	t.Parallel()
	const edited = "# Mend it\n\n1. Test first.\n"
	for name, test := range map[string]struct {
		before  permissions.Mode
		content string
		mode    permissions.Mode
		plan    string
	}{
		"into the mode before":     {permissions.ModeDefault, "", permissions.ModeDefault, "# Mend it\n"},
		"into auto":                {permissions.ModeAuto, `{}`, permissions.ModeAuto, "# Mend it\n"},
		"into acceptEdits":         {permissions.ModeDefault, `{"mode":"acceptEdits"}`, permissions.ModeAcceptEdits, "# Mend it\n"},
		"edited":                   {permissions.ModeDefault, `{"plan":"# Mend it\n\n1. Test first.\n"}`, permissions.ModeDefault, edited},
		"edited, with a rule":      {permissions.ModeDefault, `{"plan":"# Mend it\n\n1. Test first.\n","rules":["Edit(done.txt)"]}`, permissions.ModeDefault, edited},
		"begun in plan":            {permissions.ModePlan, ``, permissions.ModeDefault, "# Mend it\n"},
		"begun in plan, into less": {permissions.ModePlan, `{"mode":"acceptEdits"}`, permissions.ModeAcceptEdits, "# Mend it\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, asker := planner(t, host.SessionOptions{Mode: test.before}, nil, func(host.Question) host.Reply {
				return host.Reply{Answer: host.AnswerAllow, Content: json.RawMessage(test.content)}
			})
			r := call(t, s, "EnterPlanMode", `{}`)
			path := writePlan(t, s, "# Mend it\n")
			if s.Mode() != permissions.ModePlan || !strings.Contains(r.Text(), path) {
				t.Fatalf("in %s: %s", s.Mode(), r.Text())
			}
			r = call(t, s, "ExitPlanMode", `{"allowedPrompts":[{"tool":"Bash","prompt":"run the tests"}]}`)
			if s.Mode() != test.mode {
				t.Errorf("in %s, want %s", s.Mode(), test.mode)
			}
			wasEdited := test.plan == edited
			want := map[string]any{"plan": test.plan, "isAgent": false, "filePath": path, "planWasEdited": wasEdited}
			if got := fields(t, r); !equalJSON(got, want) {
				t.Errorf("structured %v, want %v", got, want)
			}
			if wasEdited != strings.Contains(r.Text(), test.plan) {
				t.Errorf("the result says %q", r.Text())
			}
			if on, err := os.ReadFile(path); err != nil || string(on) != test.plan {
				t.Errorf("the plan file has %q, %v", on, err)
			}
			q := last(t, asker)
			if q.Plan == nil || q.Plan.Plan != "# Mend it\n" || q.Plan.Path != path || len(q.Plan.Proposals) != 1 || q.Mode != permissions.ModePlan {
				t.Errorf("the question is %+v", q.Plan)
			}
		})
	}
}

// TestProposalsAreNoRules: what a model proposes allows nothing, and what the person writes
// allows that.
func TestProposalsAreNoRules(t *testing.T) {
	t.Parallel()
	content := `{}`
	s, asker := planner(t, host.SessionOptions{}, nil, func(host.Question) host.Reply {
		return host.Reply{Answer: host.AnswerAllow, Content: json.RawMessage(content)}
	})
	approvals := func() (n int) {
		for _, q := range asker.Questions() {
			if q.Kind == host.QuestionApproval {
				n++
			}
		}
		return n
	}
	for i, test := range []struct {
		content, file string
		asks          int
	}{{`{}`, "done.txt", 1}, {`{"rules":["Edit(done2.txt)"]}`, "done2.txt", 0}} {
		content = test.content
		call(t, s, "EnterPlanMode", `{}`)
		if i == 0 {
			writePlan(t, s, "Write done.txt.")
		}
		call(t, s, "ExitPlanMode", `{"allowedPrompts":[{"tool":"Edit","prompt":"Edit(done.txt)"},{"tool":"Edit(*)","prompt":"all"}]}`)
		before := approvals()
		call(t, s, "Write", `{"file_path":"`+test.file+`","content":"x"}`)
		if n := approvals() - before; n != test.asks {
			t.Errorf("%s: %d approvals were asked, want %d", test.content, n, test.asks)
		}
	}
}

// TestPlanWithoutRules: where nothing is remembered, or the rules of policies count alone, an answer
// gives none.
func TestPlanWithoutRules(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*host.Options){
		"once":   func(o *host.Options) { o.Permissions.OnceOnly = true },
		"policy": func(o *host.Options) { o.Permissions.OnlyPolicyRules = true },
	} {
		reply := fills(map[string]any{"rules": []string{"Edit(done.txt)"}})
		s, asker := planner(t, host.SessionOptions{Mode: permissions.ModePlan}, change, func(host.Question) host.Reply { return reply })
		writePlan(t, s, "Mend it.")
		r, _ := one(t, s, "ExitPlanMode", `{}`)
		wantError(t, r, abi.CodeInvalidInput, "can give no rules")
		if s.Mode() != permissions.ModePlan || !last(t, asker).Plan.NoRules {
			t.Errorf("%s: in %s", name, s.Mode())
		}
		reply = yesReply
		call(t, s, "ExitPlanMode", `{}`)
	}
}

func TestPlanIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := planner(t, host.SessionOptions{Mode: permissions.ModeAcceptEdits}, nil, func(host.Question) host.Reply {
		return declines("Test it first.")
	})
	call(t, s, "EnterPlanMode", `{}`)
	writePlan(t, s, "Mend it.")
	r, _ := one(t, s, "ExitPlanMode", `{}`)
	wantError(t, r, abi.CodeDenied, "did not accept the plan, and said: Test it first.", "The mode is still plan.")
	if s.Mode() != permissions.ModePlan {
		t.Errorf("in %s", s.Mode())
	}
	if r, _ := one(t, s, "Write", `{"file_path":"a.txt","content":"x"}`); !r.IsError {
		t.Error("a file was written in the mode plan")
	}
}

func TestExitPlanModeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s, asker := planner(t, host.SessionOptions{}, nil, func(host.Question) host.Reply { return yesReply })
	r, _ := one(t, s, "ExitPlanMode", `{}`)
	wantError(t, r, abi.CodeDisabled, "the mode is default, not plan")
	call(t, s, "EnterPlanMode", `{}`)
	if r := call(t, s, "EnterPlanMode", `{}`); !strings.Contains(r.Text(), "plan already") {
		t.Errorf("entering twice: %s", r.Text())
	}
	path := filepath.Join(s.Dir(), "plan.md")
	r, _ = one(t, s, "ExitPlanMode", `{}`)
	wantError(t, r, abi.CodeNotFound, "there is no plan yet: write it to "+path)
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("hunter2"), 0o600))
	for name, test := range map[string]struct {
		make func() error
		code abi.Code
		says string
	}{
		"empty":       {func() error { return os.WriteFile(path, []byte(" \n"), 0o600) }, abi.CodeInvalidInput, "is empty"},
		"a directory": {func() error { return os.Mkdir(path, 0o700) }, abi.CodeIsDirectory, "is a directory"},
		"a link":      {func() error { return os.Symlink(secret, path) }, abi.CodeNotRegular, "leads elsewhere"},
		"no text":     {func() error { return os.WriteFile(path, []byte("a\xff"), 0o600) }, abi.CodeNotText, "is not UTF-8"},
		"too large":   {func() error { return os.WriteFile(path, make([]byte, 1<<20+1), 0o600) }, abi.CodeTooLarge, "at most"},
	} {
		must(t, test.make())
		r, _ := one(t, s, "ExitPlanMode", `{}`)
		wantError(t, r, test.code, test.says)
		if strings.Contains(r.Text(), "hunter2") {
			t.Errorf("%s: another file is shown", name)
		}
		must(t, os.Remove(path))
	}
	if n := len(asker.Questions()); n != 0 {
		t.Errorf("%d questions were asked", n)
	}
}

// TestPlanFileIsALink: a repository may bring one where an embedder has the plan lie. What it
// leads to is neither shown nor written.
func TestPlanFileIsALink(t *testing.T) {
	t.Parallel()
	for name, exists := range map[string]bool{"to a file": true, "to nothing yet": false} {
		repository, target := t.TempDir(), filepath.Join(t.TempDir(), "profile")
		if exists {
			must(t, os.WriteFile(target, []byte("hunter2"), 0o600))
		}
		path := filepath.Join(repository, "PLAN.md")
		must(t, os.Symlink(target, path))
		asker := &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return yesReply, nil }}
		s := session(t, open(t, host.Options{Builtins: true}), host.SessionOptions{Cwd: repository, PlanFile: path, Mode: permissions.ModePlan, Asker: asker})
		r, _ := one(t, s, "Write", `{"file_path":"PLAN.md","content":"x"}`)
		if _, err := os.Stat(target); !r.IsError || os.IsNotExist(err) == exists {
			t.Errorf("%s: %s", name, r.Text())
		}
		r, _ = one(t, s, "ExitPlanMode", `{}`)
		wantError(t, r, abi.CodeNotRegular, "leads elsewhere")
		must(t, os.Remove(path))
		call(t, s, "Write", `{"file_path":"PLAN.md","content":"Mend it."}`)
		call(t, s, "ExitPlanMode", `{}`)
		if n := len(asker.Questions()); n != 1 {
			t.Errorf("%s: %d questions", name, n)
		}
	}
}

// TestPlanToolsWithoutAPerson are not offered, each by the kind of question that it needs.
func TestPlanToolsWithoutAPerson(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true})
	for name, test := range map[string]struct {
		asker  host.Asker
		caller host.Caller
		want   []string
	}{
		"headless":         {nil, host.Caller{}, nil},
		"approvals alone":  {gives(host.Reply{}, nil, host.QuestionApproval, host.QuestionForm), host.Caller{}, nil},
		"choices":          {gives(host.Reply{}, nil, host.QuestionChoice), host.Caller{}, []string{"AskUserQuestion"}},
		"plans":            {gives(host.Reply{}, nil, host.QuestionPlan), host.Caller{}, []string{"EnterPlanMode", "ExitPlanMode"}},
		"everything":       {replies(yesReply), host.Caller{}, []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}},
		"of another agent": {replies(yesReply), host.Caller{Agent: "helper"}, nil},
	} {
		s := session(t, h, host.SessionOptions{Asker: test.asker, Caller: test.caller})
		tools, err := s.Tools(host.FormatAnthropic)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			name0 := tool.Name
			if !slices.Contains([]string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}, name0) {
				continue
			}
			if offered := tool.NotOffered == nil; offered != slices.Contains(test.want, name0) {
				t.Errorf("%s: %s is offered: %t (%v)", name, name0, offered, tool.NotOffered)
			}
		}
	}
}

// TestPlanWithoutADirectory has the plan in a place for temporary files.
func TestPlanWithoutADirectory(t *testing.T) {
	t.Parallel()
	s, _ := planner(t, host.SessionOptions{Ephemeral: true}, nil, func(host.Question) host.Reply { return yesReply })
	r := call(t, s, "EnterPlanMode", `{}`)
	_, rest, _ := strings.Cut(r.Text(), "plan file: ")
	path, _, _ := strings.Cut(rest, ". ")
	if !filepath.IsAbs(path) || filepath.Base(path) != "plan.md" {
		t.Fatalf("the plan file is %q: %s", path, r.Text())
	}
	call(t, s, "Write", `{"file_path":"`+filepath.ToSlash(path)+`","content":"Mend it."}`)
	call(t, s, "ExitPlanMode", `{}`)
	must(t, s.Close(t.Context()))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the plan is left behind: %v", err)
	}
}

// TestStagedPlan has the plan written and edited where writes are staged.
func TestStagedPlan(t *testing.T) {
	t.Parallel()
	s, _ := planner(t, host.SessionOptions{Stage: true}, nil, func(q host.Question) host.Reply {
		return fills(map[string]string{"plan": q.Plan.Plan + " Test it."})
	})
	call(t, s, "EnterPlanMode", `{}`)
	path := writePlan(t, s, "Mend it.")
	if got := fields(t, call(t, s, "ExitPlanMode", `{}`))["plan"]; got != "Mend it. Test it." {
		t.Errorf("the plan is %q", got)
	}
	if r := call(t, s, "Read", `{"file_path":"`+filepath.ToSlash(path)+`"}`); !strings.Contains(r.Text(), "Mend it. Test it.") {
		t.Errorf("the session sees %q", r.Text())
	}
}

// TestPlanFromDontAsk: entering plan does not begin to ask, and leaving it restores dontAsk.
func TestPlanFromDontAsk(t *testing.T) {
	t.Parallel()
	s, asker := planner(t, host.SessionOptions{Mode: permissions.ModeDontAsk}, nil, func(host.Question) host.Reply { return yesReply })
	outside := filepath.Join(t.TempDir(), "b.txt")
	must(t, os.WriteFile(outside, []byte("beta"), 0o600))
	call(t, s, "EnterPlanMode", `{}`)
	read := `{"file_path":"` + filepath.ToSlash(outside) + `"}`
	r, _ := one(t, s, "Read", read)
	wantError(t, r, abi.CodeNeedsApproval, "nobody is asked, as the mode plan was entered from dontAsk")
	writePlan(t, s, "Mend it.")
	call(t, s, "ExitPlanMode", `{}`)
	if s.Mode() != permissions.ModeDontAsk {
		t.Errorf("in %s", s.Mode())
	}
	// Entered from default, it asks.
	must(t, s.SetMode(permissions.ModeDefault))
	must(t, s.SetMode(permissions.ModePlan))
	before := len(asker.Questions())
	call(t, s, "Read", read)
	if n := len(asker.Questions()) - before; n != 1 {
		t.Errorf("%d questions", n)
	}
}

func TestForbiddenModesArePlannedAround(t *testing.T) {
	t.Parallel()
	forbid := func(modes ...permissions.Mode) func(*host.Options) {
		return func(o *host.Options) { o.Permissions.ForbiddenModes = modes }
	}
	var modes []permissions.Mode
	note := func(q host.Question) host.Reply { modes = q.Plan.Modes; return yesReply }
	s, _ := planner(t, host.SessionOptions{}, forbid(permissions.ModeAcceptEdits), note)
	call(t, s, "EnterPlanMode", `{}`)
	writePlan(t, s, "Mend it.")
	call(t, s, "ExitPlanMode", `{}`)
	if !slices.Equal(modes, []permissions.Mode{permissions.ModeDefault}) {
		t.Errorf("it was offered into %v", modes)
	}
	s, _ = planner(t, host.SessionOptions{}, forbid(permissions.ModePlan), note)
	r, _ := one(t, s, "EnterPlanMode", `{}`)
	wantError(t, r, abi.CodeDenied, "forbidden by policy")
}

// TestAskToPlan: by a rule, as the setting ask_to_plan makes one, the person is asked first.
func TestAskToPlan(t *testing.T) {
	t.Parallel()
	s, asker := planner(t, host.SessionOptions{}, func(o *host.Options) {
		o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Ask: permissions.RuleTexts("EnterPlanMode")}}
	}, nil)
	call(t, s, "EnterPlanMode", `{}`)
	if n := len(asker.Questions()); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// TestInterruptEndsAPlanQuestion with a rejection, and the mode stays. Waiting holds no slot.
func TestInterruptEndsAPlanQuestion(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	asker := anyone(func(ctx context.Context, _ host.Question) (host.Reply, error) {
		close(asked)
		<-ctx.Done()
		return host.Reply{}, context.Cause(ctx)
	})
	h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}, Limits: host.LimitOptions{MaxCalls: 1}})
	s := session(t, h, host.SessionOptions{Mode: permissions.ModePlan, Asker: asker})
	other := session(t, h, host.SessionOptions{})
	writePlan(t, s, "Mend it.")
	stream := s.Stream(t.Context())
	must(t, stream.Add(use("c1", "ExitPlanMode", `{}`)))
	stream.Close()
	<-asked
	call(t, other, "Glob", `{"pattern":"*"}`)
	stream.Interrupt()
	for e := range stream.Events() {
		if e.Kind == host.EventResult {
			wantError(t, *e.Result, abi.CodeInterrupted)
		}
	}
	if s.Mode() != permissions.ModePlan {
		t.Errorf("in %s", s.Mode())
	}
}

// TestModeChangesWhileThePersonReads: the answer does not change a mode that is not plan any more.
func TestModeChangesWhileThePersonReads(t *testing.T) {
	t.Parallel()
	var s *host.Session
	s, _ = planner(t, host.SessionOptions{Mode: permissions.ModePlan}, nil, func(host.Question) host.Reply {
		must(t, s.SetMode(permissions.ModeDontAsk))
		return fills(map[string]any{"mode": "acceptEdits", "rules": []string{"Bash"}})
	})
	writePlan(t, s, "Mend it.")
	r, _ := one(t, s, "ExitPlanMode", `{}`)
	wantError(t, r, abi.CodeChanged, "but the mode stays")
	if s.Mode() != permissions.ModeDontAsk {
		t.Errorf("in %s", s.Mode())
	}
}

const whichInput = `{"questions":[
	{"question":"Which?","header":"Kind","options":[{"label":"a","description":"the first","value":"x"},{"label":"b"}]},
	{"question":"What else?","options":[{"label":"c"},{"label":"d"}],"multiSelect":true}],"metadata":{"source":"test"}}`

func TestAskUserQuestion(t *testing.T) {
	t.Parallel()
	var reply host.Reply
	s, asker := planner(t, host.SessionOptions{}, nil, func(host.Question) host.Reply { return reply })
	reply = fills(map[string]any{
		"answers": map[string]any{"Which?": "something \x1b[31melse", "What else?": []string{"d", "c"}}, "notes": map[string]string{"Which?": "for now"},
	})
	got := fields(t, call(t, s, "AskUserQuestion", whichInput))
	want := map[string]any{"Which?": "something \x1b[31melse", "What else?": []any{"d", "c"}}
	if !equalJSON(got["answers"], want) || !equalJSON(got["annotations"], map[string]any{"Which?": map[string]any{"notes": "for now"}}) {
		t.Errorf("structured %v", got)
	}
	if q := last(t, asker).Choice; q == nil || len(q.Questions) != 2 || q.Questions[0].Header != "Kind" || !q.Questions[1].MultiSelect {
		t.Errorf("the question is %+v", q)
	}
	reply = declines("Neither, go on.")
	r, _ := one(t, s, "AskUserQuestion", whichInput)
	wantError(t, r, abi.CodeDenied, "said: Neither, go on.")
}

// TestAskUserQuestionRefuses bad input without asking anybody.
func TestAskUserQuestionRefuses(t *testing.T) {
	t.Parallel()
	s, asker := planner(t, host.SessionOptions{}, nil, func(host.Question) host.Reply { return yesReply })
	options := `"options":[{"label":"a"},{"label":"b"}]`
	for name, test := range map[string]struct{ input, says string }{
		"nothing":           {`{}`, "questions"},
		"none":              {`{"questions":[]}`, "questions"},
		"five":              {`{"questions":[` + strings.Repeat(`{"question":"x",`+options+`},`, 4) + `{"question":"x",` + options + `}]}`, "questions"},
		"very many":         {`{"questions":[` + strings.Repeat(`{"question":"x",`+options+`},`, 99_999) + `{"question":"x",` + options + `}]}`, "questions: maximum 4 items required, but found 100000 items"},
		"very many options": {`{"questions":[{"question":"x","options":[` + strings.Repeat(`{"label":"a"},`, 99_999) + `{"label":"b"}]}]}`, "questions[0].options: maximum 4 items required, but found 100000 items"},
		"the same twice":    {`{"questions":[{"question":"x",` + options + `},{"question":"x",` + options + `}]}`, "question 2 is asked before"},
		"one option":        {`{"questions":[{"question":"x","options":[{"label":"a"}]}]}`, "options"},
		"a label twice":     {`{"questions":[{"question":"x","options":[{"label":"a"},{"label":"a"}]}]}`, `the label "a"`},
		"a long header":     {`{"questions":[{"question":"x","header":"thirteen char",` + options + `}]}`, "header"},
		"blank":             {`{"questions":[{"question":" ",` + options + `}]}`, "the question is empty"},
		"huge":              {`{"questions":[{"question":"` + strings.Repeat("x", 2001) + `",` + options + `}]}`, "question"},
		"an option of none": {`{"questions":[{"question":"x","options":[{"label":"a"},{}]}]}`, "label"},
		"a number":          {`{"questions":[{"question":1,` + options + `}]}`, "question"},
	} {
		r, _ := one(t, s, "AskUserQuestion", test.input)
		if !faulty(r) || !strings.Contains(r.Text(), test.says) {
			t.Errorf("%s: %.300s", name, r.Text())
		}
	}
	for name, input := range map[string]string{
		"very many proposals": `{"allowedPrompts":[` + strings.Repeat(`{"tool":"Bash","prompt":"x"},`, 99_999) + `{"tool":"Bash","prompt":"x"}]}`,
		"a proposal of none":  `{"allowedPrompts":[{}]}`,
		"a huge one":          `{"allowedPrompts":[{"tool":"Bash","prompt":"` + strings.Repeat("x", 501) + `"}]}`,
	} {
		if r, _ := one(t, s, "ExitPlanMode", input); !faulty(r) {
			t.Errorf("%s: %.300s", name, r.Text())
		}
	}
	if n := len(asker.Questions()); n != 0 {
		t.Errorf("%d questions were asked", n)
	}
}

// faulty reports whether a result says that the input is at fault.
func faulty(r abi.ToolResult) bool {
	return r.IsError && r.Error != nil && (r.Error.Code == abi.CodeInvalidInput || r.Error.Code == abi.CodeTooLarge || r.Error.Code == abi.CodeLimit)
}

func last(t *testing.T, a *recorder) host.Question {
	t.Helper()
	all := a.Questions()
	if len(all) == 0 {
		t.Fatal("nothing was asked")
	}
	return all[len(all)-1]
}

func equalJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}
