package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

const skillTool = "Skill"

// skillText is a file of the format.
func skillText(name, more, body string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n" + more + "---\n" + body
}

// skilled are options with skills of a user's and of a project's, which lies in another directory.
func skilled(t *testing.T) (o host.Options, user string) {
	t.Helper()
	user = files(t, map[string]string{
		"skills/pdf/SKILL.md": skillText("pdf", "", "Read $ARGUMENTS by scripts/read.py.\n"), "skills/pdf/scripts/read.py": "print(1)\n",
		"skills/deploy/SKILL.md": skillText("deploy", "allowed-tools: Bash(make:*), Edit(done.txt), Nonsense(\n", "Deploy.\n"),
		"commands/git/commit.md": "Commit $1 as $2.\n",
		"commands/people.md":     "---\ndisable-model-invocation: true\n---\nFor people.\n",
	})
	o = host.Options{
		Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")},
		Skills: host.SkillOptions{Sources: []host.SkillSource{{Label: "user", Dir: user}}},
	}
	return o, user
}

// description is what a session tells its model of the tool Skill; empty where it is not offered.
func description(t *testing.T, s *host.Session) string {
	t.Helper()
	states, err := s.Tools(host.FormatAnthropic)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range states {
		if st.Name == skillTool && st.NotOffered == nil {
			return st.Description
		}
	}
	return ""
}

// TestSkill loads skills in every mode, by their names and the alias, and says what it loaded.
func TestSkill(t *testing.T) {
	t.Parallel()
	o, user := skilled(t)
	h := open(t, o)
	lies, err := filepath.EvalSymlinks(user)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(lies, "skills", "pdf")
	for _, mode := range []permissions.Mode{permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits, permissions.ModeDontAsk} {
		s := session(t, h, host.SessionOptions{Mode: mode})
		for tool, inputs := range map[string][]string{
			skillTool:      {`{"skill":"pdf","args":"a.pdf"}`, `{"skill":"/pdf a.pdf"}`, `{"skill":"user:pdf","args":"a.pdf"}`},
			"SlashCommand": {`{"command":"/pdf a.pdf"}`, `{"command":"pdf  a.pdf "}`},
		} {
			for _, input := range inputs {
				r := call(t, s, tool, input)
				want := "The skill pdf (user), whose folder is " + folder + ": relative paths mean files there.\n\nRead a.pdf by scripts/read.py.\n"
				if r.Text() != want || string(r.Structured) != `{"commandName":"pdf","success":true}` {
					t.Errorf("%s %s in %s: %q, %s", tool, input, mode, r.Text(), r.Structured)
				}
			}
		}
		r := call(t, s, "SlashCommand", `{"command":"/git:commit x \"a b\""}`)
		if r.Text() != "The skill git:commit (user).\n\nCommit x as a b.\n" {
			t.Errorf("a command is %q", r.Text())
		}
	}
	s := session(t, h, host.SessionOptions{})
	for input, want := range map[string]struct {
		code abi.Code
		says string
	}{
		`{"skill":"pfd"}`:                   {abi.CodeNotFound, `did you mean "pdf"?`},
		`{"skill":"people"}`:                {abi.CodeDisabled, "is not for models"},
		`{"skill":"/"}`:                     {abi.CodeInvalidInput, "skill is empty"},
		`{"skill":"pdf x","args":"y"}`:      {abi.CodeInvalidInput, "give them in args alone"},
		`{"skill":"../../etc/passwd"}`:      {abi.CodeNotFound, "there is no skill"},
		`{"skill":"a\u0000\u001b[31m"}`:     {abi.CodeNotFound, `there is no skill "a\x00\x1b[31m"`},
		`{"skill":"pdf","args":"","x":"y"}`: {abi.CodeInvalidInput, "x"},
	} {
		r, _ := one(t, s, skillTool, input)
		wantError(t, r, want.code, want.says)
	}
}

// TestSkillsAreListed in the description of the tool, but for those that rules deny or people alone
// load. Without any the tool is not offered.
func TestSkillsAreListed(t *testing.T) {
	t.Parallel()
	o, _ := skilled(t)
	h := open(t, o)
	got := description(t, session(t, h, host.SessionOptions{}))
	if want := "\n\nSkills:\n- deploy: Does deploy.\n- git:commit: Commit $1 as $2.\n- pdf: Does pdf.\n"; !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "Loads a skill") || len(got) > 8000 {
		t.Errorf("described as %q", got)
	}
	for deny, want := range map[string]string{
		"Skill(pdf)": "- deploy: Does deploy.\n- git:commit: Commit $1 as $2.\n", "SlashCommand(/git:*)": "- deploy: Does deploy.\n- pdf: Does pdf.\n", "Skill(user:pdf) | Skill(deploy)": "- git:commit: Commit $1 as $2.\n",
		"Skill": "", "Skill(pdf) | Skill(deploy) | Skill(git:commit)": "",
	} {
		denied := o
		denied.Permissions.Rules = rules(deny, "", "")
		s := session(t, open(t, denied), host.SessionOptions{})
		_, list, _ := strings.Cut(description(t, s), "Skills:\n")
		if list != want {
			t.Errorf("with deny %s: listed %q, want %q", deny, list, want)
		}
	}
	none := session(t, open(t, host.Options{Builtins: true}), host.SessionOptions{})
	if got := description(t, none); got != "" {
		t.Errorf("without skills it is offered as %q", got)
	}
	r, _ := one(t, none, skillTool, `{"skill":"pdf"}`)
	wantError(t, r, abi.CodeDisabled, "there is no skill here that a model may load")
}

// TestSkillsAreListedInBrief to clients of MCP, some of which cut descriptions: all names come first there,
// too.
func TestSkillsAreListedInBrief(t *testing.T) {
	t.Parallel()
	o := host.Options{Builtins: true}
	for i := range 60 {
		o.Skills.Own = append(o.Skills.Own, host.Skill{
			Name: fmt.Sprintf("skill-%d", i), Description: strings.Repeat("für alles ", 20), Fetch: func(context.Context, string) (string, error) { return "", nil },
		})
	}
	s := session(t, open(t, o), host.SessionOptions{})
	for format, most := range map[host.Format]int{host.FormatMCP: abi.MaxSafeText, host.FormatAnthropic: 10_000} {
		text, err := s.Definitions(format)
		if err != nil {
			t.Fatal(err)
		}
		var tools []struct{ Name, Description string }
		if err := json.Unmarshal(text, &tools); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(tools, func(t struct{ Name, Description string }) bool { return t.Name == skillTool })
		_, list, found := strings.Cut(tools[i].Description, "Skills:\n")
		if !found || len(tools[i].Description) > most || strings.Count(list, "skill-") != len(o.Skills.Own) {
			t.Errorf("%s: %d bytes: %s", format, len(tools[i].Description), tools[i].Description)
		}
	}
}

// TestSkillRulesBind calls of skills, by any of their names and the alias.
func TestSkillRulesBind(t *testing.T) {
	t.Parallel()
	o, _ := skilled(t)
	o.Permissions.Rules = rules("Skill(pdf)", "Skill(git:*)", "")
	h := open(t, o)
	headless := session(t, h, host.SessionOptions{})
	for _, test := range []struct {
		tool, input string
		code        abi.Code
		says        string
	}{
		{skillTool, `{"skill":"pdf"}`, abi.CodeDenied, "deny rule Skill(pdf)"}, {skillTool, `{"skill":"user:pdf"}`, abi.CodeDenied, "deny rule Skill(pdf)"}, {"SlashCommand", `{"command":"/pdf x"}`, abi.CodeDenied, "deny rule Skill(pdf)"},
		{skillTool, `{"skill":"git:commit"}`, abi.CodeNeedsApproval, "ask rule Skill(git:*)"}, {"SlashCommand", `{"command":"/user:git:commit"}`, abi.CodeNeedsApproval, "ask rule Skill(git:*)"},
	} {
		r, _ := one(t, headless, test.tool, test.input)
		wantError(t, r, test.code, test.says)
	}
	call(t, headless, skillTool, `{"skill":"deploy"}`)
	for ask, code := range map[string]abi.Code{"Skill(user:pdf)": abi.CodeNeedsApproval, "Skill(user:*)": abi.CodeNeedsApproval, "Skill(project:*)": ""} {
		o.Permissions.Rules = rules("", ask, "Skill")
		s := session(t, open(t, o), host.SessionOptions{})
		for _, input := range []string{`{"skill":"pdf"}`, `{"skill":"user:pdf"}`} {
			if r, _ := one(t, s, skillTool, input); r.IsError != (code != "") || r.IsError && r.Error.Code != code {
				t.Errorf("ask %s and %s: %q", ask, input, r.Text())
			}
		}
	}
	asker := &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return yesReply, nil }}
	asked := session(t, h, host.SessionOptions{Asker: asker})
	call(t, asked, "SlashCommand", `{"command":"/git:commit a b"}`)
	if all := asker.Questions(); len(all) != 1 || all[0].Kind != host.QuestionApproval || string(all[0].Input) != `{"args":"a b","skill":"git:commit"}` {
		t.Errorf("asked %+v", all)
	}
}

// TestSkillFolderIsReadable while it is loaded, and nothing beside it, nor where a rule denies it.
func TestSkillFolderIsReadable(t *testing.T) {
	t.Parallel()
	o, user := skilled(t)
	read := func(s *host.Session, path string) (abi.ToolResult, string) {
		input, err := json.Marshal(map[string]string{"file_path": filepath.Join(user, filepath.FromSlash(path))})
		if err != nil {
			t.Fatal(err)
		}
		r, _ := one(t, s, "Read", string(input))
		return r, r.Text()
	}
	h := open(t, o)
	s := session(t, h, host.SessionOptions{})
	if r, _ := read(s, "skills/pdf/scripts/read.py"); !r.IsError {
		t.Error("it can be read before the skill is loaded")
	}
	call(t, s, skillTool, `{"skill":"pdf"}`)
	call(t, s, skillTool, `{"skill":"pdf"}`)
	if r, text := read(s, "skills/pdf/scripts/read.py"); r.IsError || !strings.Contains(text, "print(1)") {
		t.Errorf("reading it: %s", text)
	}
	for _, path := range []string{"skills/deploy/SKILL.md", "commands/people.md", "skills/pdf/../deploy/SKILL.md"} {
		if r, text := read(s, path); !r.IsError {
			t.Errorf("%s can be read: %s", path, text)
		}
	}
	write, _ := json.Marshal(map[string]string{"file_path": filepath.Join(user, "skills", "pdf", "new.txt"), "content": "x"})
	r, _ := one(t, s, "Write", string(write))
	wantError(t, r, abi.CodeNeedsApproval)
	if r, _ := read(session(t, h, host.SessionOptions{}), "skills/pdf/scripts/read.py"); !r.IsError {
		t.Error("another session can read it")
	}
	o.Permissions.Rules = rules("Read(**/scripts/**)", "", "")
	s = session(t, open(t, o), host.SessionOptions{})
	call(t, s, skillTool, `{"skill":"pdf"}`)
	if r, _ := read(s, "skills/pdf/scripts/read.py"); !r.IsError {
		t.Error("it can be read against a deny rule")
	}
}

// TestSkillProposals become rules of the session by a person's word alone. They are asked once.
func TestSkillProposals(t *testing.T) {
	t.Parallel()
	const question = "The skill deploy would have these calls allowed: Bash(make:*), Edit(done.txt). Allow them?"
	chosen := func(label string) host.Reply {
		content, _ := json.Marshal(map[string]any{"answers": map[string]string{question: label}})
		return host.Reply{Answer: host.AnswerAllow, Content: content}
	}
	for name, test := range map[string]struct {
		reply host.Reply
		allow bool
		says  string
	}{
		"allowed":        {chosen("Allow for this session"), true, "The user allowed for this session: Bash(make:*), Edit(done.txt).\n"},
		"not allowed":    {chosen("Do not allow"), false, "Nothing of that was allowed by loading it.\n"},
		"in other words": {chosen("make only"), false, "Nothing of that was allowed by loading it.\nThe user said of that: make only\n"},
		"declined":       {declines("not now"), false, "Nothing of that was allowed by loading it.\nThe user said of that: not now\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := skilled(t)
			asker := &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return test.reply, nil }}
			s := session(t, open(t, o), host.SessionOptions{Asker: asker})
			for range 2 {
				r := call(t, s, skillTool, `{"skill":"deploy"}`)
				if asked := len(asker.Questions()); asked != 1 || asker.Questions()[0].Choice == nil || asker.Questions()[0].Choice.Questions[0].Question != question {
					t.Fatalf("asked %d times: %+v", asked, asker.Questions())
				}
				if !strings.Contains(r.Text(), "(user)") || !strings.Contains(r.Text(), "Deploy.\n") {
					t.Errorf("loaded %q", r.Text())
				}
				if test.says != "" && !strings.Contains(r.Text(), test.says) {
					t.Errorf("loaded %q, want %q", r.Text(), test.says)
				}
				test.says = "" // nobody is asked again
			}
			var given []string
			for _, rule := range s.Policy().Rules() {
				if rule.Source.Kind == permissions.SourceSession && rule.Tool != "Read" {
					given = append(given, rule.String())
				}
			}
			if want := []string{"Bash(make:*)", "Edit(done.txt)"}; test.allow != slices.Equal(given, want) || !test.allow && given != nil {
				t.Errorf("the rules are %q", given)
			}
		})
	}
}

// unasked is a person who is to be asked nothing.
func unasked() *recorder {
	return &recorder{answer: func(context.Context, host.Question) (host.Reply, error) { return host.Reply{}, os.ErrInvalid }}
}

// TestSkillProposalsThatNobodySees allow nothing: without a person, with one that takes no choices,
// where nothing is remembered, where nobody is ever asked, and where all is allowed anyway.
func TestSkillProposalsThatNobodySees(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options func(*host.Options)
		session host.SessionOptions
	}{
		"headless":        {nil, host.SessionOptions{}},
		"dontAsk":         {nil, host.SessionOptions{Mode: permissions.ModeDontAsk, Asker: unasked()}},
		"bypass":          {nil, host.SessionOptions{Mode: permissions.ModeBypass, Asker: unasked()}},
		"once only":       {func(o *host.Options) { o.Permissions.OnceOnly = true }, host.SessionOptions{Asker: unasked()}},
		"rules of policy": {func(o *host.Options) { o.Permissions.OnlyPolicyRules = true }, host.SessionOptions{Asker: unasked()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := skilled(t)
			if test.options != nil {
				test.options(&o)
			}
			var log syncBuffer
			o.Observe.Logger = slog.New(slog.NewTextHandler(&log, nil))
			s := session(t, open(t, o), test.session)
			r := call(t, s, skillTool, `{"skill":"deploy"}`)
			if text := log.String(); text != "" {
				t.Errorf("logged %s", text)
			}
			if !strings.Contains(r.Text(), "It proposes to allow Bash(make:*), Edit(done.txt), Nonsense(. Nothing of that was allowed by loading it.\n") {
				t.Errorf("loaded %q", r.Text())
			}
			for _, rule := range s.Policy().Rules() {
				if rule.Tool != "Read" {
					t.Errorf("the rule %s counts", rule)
				}
			}
			if asker, ok := test.session.Asker.(*recorder); ok && len(asker.Questions()) > 0 {
				t.Errorf("asked %+v", asker.Questions())
			}
		})
	}
}

// TestSkillsAreFollowed tells of skills that come, change and go. A turn that has begun keeps those that
// it began with.
func TestSkillsAreFollowed(t *testing.T) {
	t.Parallel()
	dir, told := t.TempDir(), make(news, 100)
	var s *host.Session
	waits := echo("Waits")
	began, changed := make(chan struct{}), make(chan struct{})
	waits.Run = func(context.Context, *host.Call) (abi.ToolResult, error) {
		close(began)
		<-changed
		return text("done"), nil
	}
	h := open(t, host.Options{
		Builtins: true, Tools: []host.NativeTool{waits}, Permissions: host.PermissionOptions{Rules: rules("", "", "Waits")}, Observe: host.ObserveOptions{Events: told.observe},
		Skills: host.SkillOptions{Sources: []host.SkillSource{{Label: "user", Dir: dir}}},
	})
	s = session(t, h, host.SessionOptions{})
	defer h.Follow(t.Context())()
	lists := func(list string) func() bool {
		return func() bool { _, got, _ := strings.Cut(description(t, s), "Skills:\n"); return got == list }
	}
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("skills/pdf/SKILL.md", skillText("pdf", "", "one\n"))
	told.want(t, "a skill came", lists("- pdf: Does pdf.\n"))

	results := make(chan []abi.ToolResult, 1)
	go func() {
		r, _ := turnOf(t, s, use("c1", "Waits", `{}`), use("c2", skillTool, `{"skill":"other"}`))
		results <- r
	}()
	<-began
	put("skills/other/SKILL.md", skillText("other", "", "two\n"))
	deadline := time.Now().Add(testenv.Patience)
	for found, _ := h.Skills(); len(found) < 2 && time.Now().Before(deadline); found, _ = h.Skills() {
		time.Sleep(time.Millisecond)
	}
	close(changed)
	wantError(t, (<-results)[1], abi.CodeNotFound, "there are pdf")
	told.want(t, "another came", lists("- other: Does other.\n- pdf: Does pdf.\n"))
	call(t, s, skillTool, `{"skill":"other"}`)

	put("skills/other/SKILL.md", "---\nname: other\ndescription: Does more.\n---\nthree\n")
	told.want(t, "it changed", lists("- other: Does more.\n- pdf: Does pdf.\n"))
	if err := os.RemoveAll(filepath.Join(dir, "skills")); err != nil {
		t.Fatal(err)
	}
	told.want(t, "all went", func() bool { return description(t, s) == "" })
}

// TestSkillsOfPrograms are an embedder's own, those that a provider offers, and those in its own
// file system.
func TestSkillsOfPrograms(t *testing.T) {
	t.Parallel()
	own := host.Skill{Name: "own", Description: "The program's.", Hint: "[what]", Fetch: func(_ context.Context, args string) (string, error) { return "Do " + args, nil }}
	told := make(news, 100)
	h := open(t, host.Options{Builtins: true, Skills: host.SkillOptions{Own: []host.Skill{own}}, Observe: host.ObserveOptions{Events: told.observe}})
	s := session(t, h, host.SessionOptions{})
	if r := call(t, s, skillTool, `{"skill":"own","args":"it"}`); r.Text() != "The skill own (program).\n\nDo it" {
		t.Errorf("loaded %q", r.Text())
	}
	fails := host.Skill{Name: "fails", Fetch: func(context.Context, string) (string, error) {
		return "", abi.Errorf(abi.CodeIO, "out of order")
	}}
	if err := h.Provide("p", host.Provided{Skills: []host.Skill{fails}}); err != nil {
		t.Fatal(err)
	}
	told.next(t, host.ToolsChange{Changed: []string{skillTool}})
	r, _ := one(t, s, skillTool, `{"skill":"fails"}`)
	wantError(t, r, abi.CodeIO, "out of order")
	if err := h.Provide("p", host.Provided{}); err != nil {
		t.Fatal(err)
	}
	told.next(t, host.ToolsChange{Changed: []string{skillTool}})
	for _, broken := range []host.Skill{{Name: "x"}, {Name: "../x", Fetch: own.Fetch}, {Fetch: own.Fetch}} {
		if err := h.Provide("p", host.Provided{Skills: []host.Skill{broken}}); err == nil {
			t.Errorf("%+v is taken from a provider", broken)
		}
		if opened, err := host.Open(t.Context(), host.Options{Skills: host.SkillOptions{Own: []host.Skill{broken}}}); err == nil {
			t.Errorf("%+v is taken as an option: %v", broken, opened.Close(t.Context()))
		}
	}
}

// TestSkillRulesBindOtherTools that load skills: an embedder's own.
func TestSkillRulesBindOtherTools(t *testing.T) {
	t.Parallel()
	o, _ := skilled(t)
	var got error
	loads := echo("Loads")
	loads.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		answer, err := c.Do(ctx, abi.Request{Name: abi.CapSessionSkill, Args: c.Input})
		if got = err; err == nil {
			err = answer.Close()
		}
		return text("done"), err
	}
	o.Tools, o.Permissions.Rules = []host.NativeTool{loads}, rules("Skill(pdf)", "", "Loads")
	s := session(t, open(t, o), host.SessionOptions{})
	for input, code := range map[string]abi.Code{`{"skill":"git:commit"}`: "", `{"skill":"pdf"}`: abi.CodeNotFound} {
		one(t, s, "Loads", input)
		if (got != nil) != (code != "") || got != nil && abi.CodeOf(got) != code {
			t.Errorf("%s: %v", input, got)
		}
	}
}

// TestSkillsInAStage are loaded as elsewhere: that changes nothing.
func TestSkillsInAStage(t *testing.T) {
	t.Parallel()
	o, _ := skilled(t)
	s := session(t, open(t, o), host.SessionOptions{Stage: true})
	if description(t, s) == "" {
		t.Error("it is not offered")
	}
	call(t, s, skillTool, `{"skill":"pdf"}`)
}

// TestSkillEvents tell that the tool Skill came, changed or went, and nothing where models are told
// the same.
func TestSkillEvents(t *testing.T) {
	t.Parallel()
	told := make(news, 100)
	h := open(t, host.Options{Builtins: true, Observe: host.ObserveOptions{Events: told.observe}})
	tools := []string{skillTool}
	for _, step := range []struct {
		list []string
		want host.ToolsChange
	}{
		{[]string{"a"}, host.ToolsChange{Added: tools}}, {[]string{"a"}, host.ToolsChange{}}, {[]string{"a", "b"}, host.ToolsChange{Changed: tools}}, {nil, host.ToolsChange{Removed: tools}},
	} {
		var list []host.Skill
		for _, name := range step.list {
			list = append(list, host.Skill{Name: name, Fetch: func(context.Context, string) (string, error) { return "", nil }})
		}
		if err := h.Provide("p", host.Provided{Skills: list}); err != nil {
			t.Fatal(err)
		}
		if step.want.Added == nil && step.want.Changed == nil && step.want.Removed == nil {
			if len(told) > 0 {
				t.Errorf("told of %+v", <-told)
			}
			continue
		}
		told.next(t, step.want)
	}

	// Rules that deny skills change what a session's model is told, too.
	fetch := func(context.Context, string) (string, error) { return "", nil }
	if err := h.Provide("p", host.Provided{Skills: []host.Skill{{Name: "a", Fetch: fetch}, {Name: "b", Fetch: fetch}}}); err != nil {
		t.Fatal(err)
	}
	told.next(t, host.ToolsChange{Added: tools})
	session(t, h, host.SessionOptions{})
	for _, step := range []struct {
		deny string
		want host.ToolsChange
	}{{"Skill(a)", host.ToolsChange{Changed: tools}}, {"Skill(a) | Skill(b)", host.ToolsChange{Removed: tools}}, {"Skill(b)", host.ToolsChange{Added: tools}}} {
		if err := h.Apply(host.Settings{Rules: rules(step.deny, "", "")}); err != nil {
			t.Fatal(err)
		}
		told.next(t, step.want)
	}
}

// TestSkillsOfPlugins lie beside the manifest of a plugin that is granted what it asks for.
func TestSkillsOfPlugins(t *testing.T) {
	t.Parallel()
	const asks = "[[capabilities]]\nname = \"fs.read\"\nreason = \"to read\"\n"
	for name, test := range map[string]struct {
		more    string
		granted []string
		want    []string
	}{
		"asks for nothing": {"", nil, []string{"one:mend"}}, "asks": {asks, nil, nil}, "granted": {asks, []string{"one"}, []string{"one:mend"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"one/skills/mend/SKILL.md": skillText("mend", "", "Mend it.\n")})
			putPlugin(t, dir, "Show", "ok", test.more)
			h := open(t, host.Options{Builtins: true, Plugins: host.PluginOptions{Granted: test.granted, Sources: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}}})
			var names []string
			found, problems := h.Skills()
			for _, s := range found {
				names = append(names, s.Name)
			}
			if !slices.Equal(names, test.want) || len(problems) > 0 {
				t.Errorf("found %q, %v", names, problems)
			}
			if test.want == nil {
				return
			}
			s := session(t, h, host.SessionOptions{})
			for _, input := range []string{`{"skill":"one:mend"}`, `{"skill":"mend"}`} {
				if r := call(t, s, skillTool, input); !strings.HasPrefix(r.Text(), "The skill one:mend (one), whose folder is ") {
					t.Errorf("%s: %q", input, r.Text())
				}
			}
		})
	}
}
