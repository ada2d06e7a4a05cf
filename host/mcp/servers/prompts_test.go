package servers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions"
)

// prompter has prompts of every kind, on several pages.
func prompter() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "prompter"}, &mcp.ServerOptions{PageSize: 2})
	put := func(p *mcp.Prompt, messages ...*mcp.PromptMessage) {
		s.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if p.Name == "broken" {
				return nil, errors.New("out of order")
			}
			given := make([]string, 0, len(p.Arguments))
			for _, a := range p.Arguments {
				if v, ok := r.Params.Arguments[a.Name]; ok {
					given = append(given, fmt.Sprintf("%s=%s", a.Name, v))
				}
			}
			return &mcp.GetPromptResult{Messages: append(slices.Clone(messages), &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: "Given " + strings.Join(given, " ") + "\x1b[2J."}})}, nil
		})
	}
	put(&mcp.Prompt{Name: "review code", Description: "Reviews\x1b[31m\ncode.", Arguments: []*mcp.PromptArgument{{Name: "file", Required: true}, {Name: "focus"}}})
	put(&mcp.Prompt{Name: "talk"}, &mcp.PromptMessage{Role: "user", Content: &mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG")}},
		&mcp.PromptMessage{Role: "assistant", Content: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "doc://a", Text: "a document"}}})
	put(&mcp.Prompt{Name: "broken"})
	put(&mcp.Prompt{Name: "topic", Arguments: []*mcp.PromptArgument{{Name: "topic"}}})
	return s
}

// skillsOf is what a session's model is told of skills.
func skillsOf(t *testing.T, s *host.Session) string {
	t.Helper()
	states, err := s.Tools(host.FormatMCP)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range states {
		if st.Name == "Skill" && st.NotOffered == nil {
			_, list, _ := strings.Cut(st.Description, "Skills:\n")
			return list
		}
	}
	return ""
}

// TestPromptsAreSkills offers the prompts of servers that no rule denies, with arguments by position.
func TestPromptsAreSkills(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true}, "Skill(mcp__lib__review_code) Skill(mcp__lib__talk) Skill(mcp__lib__topic) Skill(mcp__lib__broken)", "mcp__hidden")
	set := connect(t, h, servers.Config{Name: "lib", URL: serve(t, prompter())}, servers.Config{Name: "hidden", URL: serve(t, prompter())}, servers.Config{Name: "plain", URL: serve(t, newServer())})
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeDontAsk})
	want := `- mcp__lib__broken
- mcp__lib__review_code: Reviews\x1b[31m\ncode. (arguments: file [focus])
- mcp__lib__talk
- mcp__lib__topic: (arguments: [topic])
`
	wait(t, "the prompts", func() bool { return skillsOf(t, s) == want })
	for _, test := range []struct {
		skill, args string
		code        abi.Code
		want        string
	}{
		{"mcp__lib__review_code", `"a b.go" races and leaks`, "", "The skill mcp__lib__review_code (MCP server lib).\n\nGiven file=a b.go focus=races and leaks\\x1b[2J.\n"},
		{"mcp__lib__review_code", "a.go", "", "Given file=a.go\\x1b[2J.\n"},
		{"mcp__lib__review_code", "", abi.CodeInvalidInput, "the prompt needs the argument file: give file [focus] in args"},
		{"mcp__lib__topic", "all of this", "", "Given topic=all of this\\x1b[2J.\n"},
		{"mcp__lib__talk", "", "", "user:\n[image, which a prompt cannot show here]\n\nassistant:\na document\n\nuser:\nGiven \\x1b[2J.\n"},
		{"mcp__lib__talk", "x", abi.CodeInvalidInput, "the prompt takes no arguments"},
		{"mcp__lib__broken", "", abi.CodeIO, "the MCP server lib answered with an error: out of order"},
		{"mcp__hidden__talk", "", abi.CodeDenied, "the deny rule mcp__hidden"},
	} {
		r := call(t.Context(), s, "Skill", fmt.Sprintf(`{"skill":%q,"args":%q}`, test.skill, test.args))
		if r.IsError != (test.code != "") || r.IsError && r.Error.Code != test.code || !strings.Contains(r.Text(), test.want) {
			t.Errorf("%s with %q: %q", test.skill, test.args, r.Text())
		}
	}
	set.Configure(nil)
	wait(t, "their end", func() bool { return skillsOf(t, s) == "" })
}

// TestPromptsAreJudged as calls of the server's tools are: they send it what the model writes. Rules on
// the server, and on a tool of the prompt's name, bind them too.
func TestPromptsAreJudged(t *testing.T) {
	t.Parallel()
	for allow, code := range map[string]abi.Code{
		"": abi.CodeNeedsApproval, "Skill(mcp__lib__talk)": "", "Skill": "", "Skill(mcp__lib__topic)": abi.CodeNeedsApproval,
		"mcp__lib": "", "mcp__lib__*": "", "mcp__lib__talk": "", "mcp__lib__topic": abi.CodeNeedsApproval, "mcp__other": abi.CodeNeedsApproval,
	} {
		h := open(t, host.Options{Builtins: true}, allow, "")
		connect(t, h, servers.Config{Name: "lib", URL: serve(t, prompter())})
		s := session(t, h, host.SessionOptions{})
		wait(t, "the prompts", func() bool { return skillsOf(t, s) != "" })
		r := call(t.Context(), s, "Skill", `{"skill":"/mcp__lib__talk"}`)
		if r.IsError != (code != "") || r.IsError && (r.Error.Code != code || !strings.Contains(r.Text(), "It needs the allow rule Skill(mcp__lib__talk).")) {
			t.Errorf("with allow %q: %q", allow, r.Text())
		}
	}
	for _, ask := range []string{"mcp__lib", "mcp__*", "mcp__lib__talk", "Skill(mcp__lib__talk)"} {
		set := permissions.RuleSet{Source: permissions.SourceUser, Ask: permissions.RuleTexts(ask), Allow: permissions.RuleTexts("Skill")}
		h := open(t, host.Options{Builtins: true}, "", "")
		if err := h.Apply(host.Settings{Rules: []permissions.RuleSet{set}}); err != nil {
			t.Fatal(err)
		}
		connect(t, h, servers.Config{Name: "lib", URL: serve(t, prompter())})
		s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass})
		wait(t, "the prompts", func() bool { return skillsOf(t, s) != "" })
		if r := call(t.Context(), s, "Skill", `{"skill":"mcp__lib__talk"}`); !r.IsError || r.Error.Code != abi.CodeNeedsApproval {
			t.Errorf("with ask %q: %q", ask, r.Text())
		}
	}
}

// TestRulesOnNamesOfPrompts holds deny and ask rules with the server's own name of a prompt, which is called
// by another one.
func TestRulesOnNamesOfPrompts(t *testing.T) {
	t.Parallel()
	const own, offered = "mcp__lib__talk.more", "mcp__lib__talk_more"
	server := prompter()
	server.AddPrompt(&mcp.Prompt{Name: "talk.more"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	h := open(t, host.Options{Builtins: true}, "Skill", "")
	connect(t, h, servers.Config{Name: "lib", URL: serve(t, server)})
	rules := func(deny, ask []permissions.RuleText) {
		set := permissions.RuleSet{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Skill"), Deny: deny, Ask: ask}
		if err := h.Apply(host.Settings{Rules: []permissions.RuleSet{set}}); err != nil {
			t.Fatal(err)
		}
	}
	rules(nil, permissions.RuleTexts(own))
	s := session(t, h, host.SessionOptions{})
	wait(t, "the prompts", func() bool { return strings.Contains(skillsOf(t, s), offered) })
	if r := call(t.Context(), s, "Skill", `{"skill":"mcp__lib__talk_more"}`); !r.IsError || r.Error.Code != abi.CodeNeedsApproval {
		t.Errorf("with an ask rule: %q", r.Text())
	}
	rules(permissions.RuleTexts(own), nil)
	wait(t, "the rule", func() bool { return !strings.Contains(skillsOf(t, s), offered) })
}

// TestPromptsChange lists them anew when the server says so, and offers the tools of one that never
// lists them.
func TestPromptsChange(t *testing.T) {
	t.Parallel()
	server, stuck := prompter(), prompter()
	add(stuck, "say", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("said"), nil })
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	stuck.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "prompts/list" {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return next(ctx, method, r)
		}
	})
	h := open(t, host.Options{Builtins: true}, "Skill mcp__stuck", "")
	connect(t, h, servers.Config{Name: "lib", URL: serve(t, server)}, servers.Config{Name: "stuck", URL: serve(t, stuck)})
	s := session(t, h, host.SessionOptions{})
	wait(t, "the prompts", func() bool { return strings.Contains(skillsOf(t, s), "mcp__lib__talk") })
	server.RemovePrompts("talk")
	wait(t, "that one is gone", func() bool { return !strings.Contains(skillsOf(t, s), "mcp__lib__talk") })
	if r := call(t.Context(), s, "mcp__stuck__say", `{}`); r.IsError || r.Text() != "said" {
		t.Errorf("the tool of the other server: %q", r.Text())
	}
}
