package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

var updateGolden = flag.Bool("update", false, "write the golden files of this package anew")

// hinted is a deferred tool with what a search can find.
func hinted(name, hint, description string) host.NativeTool {
	return echo(name, deferred, func(c *abi.Tool) { c.SearchHint, c.Description = hint, description })
}

// searchable is a host that defers a dozen tools of several kinds.
func searchable(tb testing.TB, change func(*host.Options)) *host.Host {
	tb.Helper()
	o := host.Options{
		Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}},
		Tools: []host.NativeTool{
			hinted("AlarmCreate", "schedule recurring prompt", "Runs a prompt at times you say."),
			hinted("AlarmDelete", "cancel recurring prompt", "Takes a job away."),
			hinted("LSP", "definition references hover symbol", "Asks a language server about code."),
			hinted("NotebookPlay", "jupyter ipynb cell", "Replaces a cell of a notebook."),
			hinted("WebFetch", "download page url", "Fetches a page and shows it as text."),
			hinted("WebSearch", "internet engine", "Searches the web and lists pages."),
			echo("Plain"),
		},
	}
	if change != nil {
		change(&o)
	}
	h := open(tb, o)
	say := func(text string) func(*abi.Tool) { return func(c *abi.Tool) { c.Description = text } }
	host.OfferMCP(h,
		mcp("github__create_issue", say("Opens an issue in a repository.")),
		mcp("github__search_issues", say("Finds issues in a repository by their text.")),
		mcp("slack__send_message", say("Sends a message to a channel.")),
		mcp("slack-archive__list_channels", say("Lists the channels there were.")),
	)
	return h
}

// found is what a search came to: the tools referred to, or what it says.
func found(r abi.ToolResult) string {
	var names []string
	for _, b := range r.Content {
		switch b.Type {
		case abi.BlockToolReference:
			names = append(names, b.ToolName)
		default:
			names = append(names, b.Text)
		}
	}
	return strings.Join(names, " ")
}

// What each query finds, from the model's call to its result.
func TestToolSearch(t *testing.T) {
	t.Parallel()
	s := session(t, searchable(t, nil), host.SessionOptions{})
	var got strings.Builder
	for _, input := range []string{
		`{"query":"select:LSP"}`,
		`{"query":"select:NotebookPlay,mcp__slack__send_message"}`,
		`{"query":"select:notebookplay, Nothing"}`,
		`{"query":"select:NotebookWrite"}`,
		`{"query":"select:Read"}`,
		`{"query":"select:Glob,Plain"}`,
		`{"query":"select:"}`,
		`{"query":"alarm"}`,
		`{"query":"recurring prompt"}`,
		`{"query":"create"}`,
		`{"query":"page"}`,
		`{"query":"web page"}`,
		`{"query":"search"}`,
		`{"query":"issue repository"}`,
		`{"query":"note"}`,
		`{"query":"channel"}`,
		`{"query":"+slack send"}`,
		`{"query":"+slack"}`,
		`{"query":"+github find"}`,
		`{"query":"+jupyter"}`,
		`{"query":"prompt web issue cell","max_results":50}`,
		`{"query":"prompt web issue cell"}`,
		`{"query":"prompt web issue cell","max_results":2}`,
		`{"query":"quantum"}`,
		`{"query":"x","max_results":0}`,
		`{"query":""}`,
	} {
		r, _ := one(t, s, "ToolSearch", input)
		fmt.Fprintf(&got, "%s\n\t%s\n", input, strings.ReplaceAll(found(r), "\n", "\n\t"))
	}
	golden(t, "toolsearch.golden", got.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestToolSearchResult(t *testing.T) {
	t.Parallel()
	s := session(t, searchable(t, nil), host.SessionOptions{})
	r, events := one(t, s, "ToolSearch", `{"query":"alarm","max_results":1}`)
	if got := string(r.Structured); got != `{"matches":["AlarmCreate"],"query":"alarm","total_deferred_tools":14}` {
		t.Errorf("structured: %s", got)
	}
	// For APIs that do not know what a reference is, the definition is in it.
	want := "AlarmCreate can be called now. Its definition:\n" +
		`{"name":"AlarmCreate","description":"Runs a prompt at times you say.","input_schema":{"type":"object"}}`
	if len(r.Content) != 1 || r.Content[0].Text != want {
		t.Errorf("got %+v", r.Content)
	}
	for _, e := range events {
		if e.Kind == host.EventDecided && e.Decision.Verdict != permissions.Allow {
			t.Errorf("%s %s is %v", e.Tool, e.Capability, e.Decision.Verdict)
		}
	}
	definitions(t, s, host.FormatOpenAI)
	r, _ = one(t, s, "ToolSearch", `{"query":"select:LSP"}`)
	if want := `{"type":"function","function":{"name":"LSP",`; !strings.Contains(r.Content[0].Text, want) {
		t.Errorf("the definition is not in the format of the session: %s", r.Content[0].Text)
	}
}

// What a session is not to have cannot be found in it.
func TestToolSearchFindsWhatIsOffered(t *testing.T) {
	t.Parallel()
	denied := func(o *host.Options) {
		o.Permissions.Rules = []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("AlarmCreate")}}
	}
	for name, test := range map[string]struct {
		change   func(*host.Options)
		audience host.Audience
		want     string
	}{
		"main":       {nil, host.AudienceMain, "AlarmCreate AlarmDelete"},
		"denied":     {denied, host.AudienceMain, "AlarmDelete"},
		"background": {func(o *host.Options) { o.Permissions.Rules = withoutDeferred() }, host.AudienceBackground, "No tools are deferred: all there are can be called as they are."},
		"never":      {func(o *host.Options) { o.Model.Toolset.Defer = host.DeferNever }, host.AudienceMain, "No tools are deferred: all there are can be called as they are."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, searchable(t, test.change), host.SessionOptions{Audience: test.audience})
			r, _ := one(t, s, "ToolSearch", `{"query":"alarm"}`)
			if got := found(r); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A deferred tool is called after it was looked for, and not before.
func TestCallOfADeferredTool(t *testing.T) {
	t.Parallel()
	s := session(t, searchable(t, nil), host.SessionOptions{})
	definitions(t, s, host.FormatAnthropic)
	r, _ := one(t, s, "LSP", `{"s":"x"}`)
	wantError(t, r, abi.CodeUnknownTool, "deferred", `ToolSearch with the query "select:LSP"`)
	// In the message that looks for it, it is not known yet either.
	results := s.Results(t.Context(), []abi.ToolUse{use("1", "ToolSearch", `{"query":"select:LSP"}`), use("2", "WebFetch", `{"s":"y"}`)})
	wantError(t, results[1], abi.CodeUnknownTool, "select:WebFetch")
	if r, _ := one(t, s, "LSP", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("after it was loaded: %q", r.Text())
	}
	if r, _ := one(t, s, "Plain", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("a tool that is not deferred: %q", r.Text())
	}
	// Loading is the session's alone.
	other := session(t, searchable(t, nil), host.SessionOptions{})
	definitions(t, other, host.FormatOpenAI)
	r, _ = one(t, other, "LSP", `{"s":"x"}`)
	wantError(t, r, abi.CodeUnknownTool, "deferred")
	r, _ = one(t, other, "Lsp", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "did you mean LSP?")
	r, _ = one(t, other, "Nothing", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "there are Edit, Glob, Grep, Read, TaskCreate, ToolSearch, Write, Plain, and 14 more that ToolSearch finds")
}

// What a call calls in turn is not the model's: it may call what is deferred, and what
// it finds the model still does not know.
func TestDeferredToolsOfACall(t *testing.T) {
	t.Parallel()
	f := family{}
	h := searchable(t, func(o *host.Options) { o.Tools = append(o.Tools, f.call("Calls", resultsWay)) })
	s := session(t, h, host.SessionOptions{})
	f["main"] = s
	before := definitions(t, s, host.FormatOpenAI)
	// Two references have no text.
	if r, _ := one(t, s, "Calls", `{"tool":"ToolSearch","input":{"query":"select:LSP"}}`); r.Text() != "[][]" {
		t.Errorf("searching: got %q", r.Text())
	}
	if r, _ := one(t, s, "Calls", `{"tool":"LSP","input":{"s":"x"}}`); r.Text() != "[x][x]" {
		t.Errorf("calling: got %q", r.Text())
	}
	r, _ := one(t, s, "LSP", `{"s":"x"}`)
	wantError(t, r, abi.CodeUnknownTool, "deferred")
	if after := definitions(t, s, host.FormatOpenAI); after != before {
		t.Errorf("the model is told\n%s\nand before\n%s", after, before)
	}
}

// A session that nobody asked for definitions cannot know what its model was told.
func TestCallOfADeferredToolWhereNobodyWasTold(t *testing.T) {
	t.Parallel()
	strict := func(c *abi.Tool) {
		c.InputSchema = `{"type":"object","properties":{"s":{"type":"string"}},"required":["s"]}`
	}
	h := searchable(t, func(o *host.Options) {
		o.Tools = append(o.Tools, echo("Strict", deferred, strict), echo("Known", strict))
	})
	s := session(t, h, host.SessionOptions{})
	if r, _ := one(t, s, "Strict", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("got %q", r.Text())
	}
	const hint = `if its definition was not loaded, call ToolSearch with the query "select:Strict"`
	r, _ := one(t, s, "Strict", `{}`)
	wantError(t, r, abi.CodeInvalidInput, hint)
	r, _ = one(t, s, "Known", `{}`)
	wantError(t, r, abi.CodeInvalidInput)
	if strings.Contains(r.Text(), "ToolSearch") {
		t.Errorf("a tool that is not deferred: %s", r.Text())
	}
	one(t, s, "ToolSearch", `{"query":"select:Strict"}`)
	r, _ = one(t, s, "Strict", `{}`)
	wantError(t, r, abi.CodeInvalidInput)
	if strings.Contains(r.Text(), "ToolSearch") {
		t.Errorf("a tool that was loaded: %s", r.Text())
	}
}

// What a session has loaded, it has after a restart.
func TestLoadedToolsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	sessions := filepath.Join(t.TempDir(), "sessions") // which must be private
	begin := func(id string) (*host.Host, *host.Session) {
		h := searchable(t, func(o *host.Options) { o.Storage.Sessions = sessions })
		s := session(t, h, host.SessionOptions{ID: id})
		definitions(t, s, host.FormatOpenAI)
		return h, s
	}
	h, s := begin("first")
	one(t, s, "ToolSearch", `{"query":"select:LSP,WebFetch"}`)
	one(t, s, "ToolSearch", `{"query":"select:LSP,AlarmCreate"}`)
	want := definitions(t, s, host.FormatOpenAI)
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, s = begin("first")
	if got := definitions(t, s, host.FormatOpenAI); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, name := range []string{"LSP", "WebFetch", "AlarmCreate"} {
		if r, _ := one(t, s, name, `{"s":"x"}`); r.Text() != "x" {
			t.Errorf("%s: %q", name, r.Text())
		}
	}
	r, _ := one(t, s, "AlarmDelete", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "deferred")
	_, s = begin("second")
	r, _ = one(t, s, "LSP", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "deferred")
}

// References to what is not deferred here leave no result: an API would refuse the
// whole message.
func TestReferencesOfOtherTools(t *testing.T) {
	t.Parallel()
	reference := func(names ...string) host.NativeTool {
		return host.NewTool(abi.Tool{Name: "Point", InputSchema: anything, ReadOnly: abi.TraitTrue}, func(context.Context, struct{}) (abi.ToolResult, error) {
			var r abi.ToolResult
			for _, name := range names {
				r.Content = append(r.Content, abi.Block{Type: abi.BlockToolReference, ToolName: name})
			}
			return r, nil
		})
	}
	for want, names := range map[string][]string{
		"LSP":                                  {"Nothing", "LSP", "Read", "ToolSearch", "Plain"},
		"(Point completed with no output)":     {"Nothing"},
		"AlarmCreate mcp__slack__send_message": {"AlarmCreate", "mcp__slack__send_message"},
		"LSP AlarmCreate":                      {"LSP", "AlarmCreate", "LSP", "LSP"}, // a definition each is enough
	} {
		h := searchable(t, func(o *host.Options) { o.Tools = append(o.Tools, reference(names...)) })
		r, _ := one(t, session(t, h, host.SessionOptions{}), "Point", `{}`)
		if got := found(r); got != want {
			t.Errorf("%v: got %q, want %q", names, got, want)
		}
	}
}

// Searches, definitions and calls of deferred tools go on while plugins come and go.
func TestToolSearchHammer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := searchable(t, func(o *host.Options) { o.Plugins.Sources = []plugins.Source{plugins.Dir(plugins.OriginUser, dir)} })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var users sync.WaitGroup
	for i := range 3 {
		s := session(t, h, host.SessionOptions{Cwd: dir})
		users.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				results := s.Results(ctx, []abi.ToolUse{
					use("1", "ToolSearch", `{"query":"show newer alarm","max_results":50}`), use("2", "AlarmDelete", `{"s":"x"}`), use("3", "Nothing", `{}`),
				})
				if ctx.Err() != nil {
					return
				}
				if got := found(results[0]); !strings.Contains(got, "AlarmCreate AlarmDelete") {
					t.Errorf("got %q", got)
				}
				if n > 0 && results[1].IsError { // loaded by the first message
					t.Errorf("got %q", results[1].Text())
				}
				var list []json.RawMessage
				if d, err := s.Definitions(host.Formats()[i]); err != nil || json.Unmarshal(d, &list) != nil {
					t.Errorf("got %s, %v", d, err)
				}
			}
		})
	}
	for i := range 30 {
		putPlugin(t, dir, []string{"Show", "Newer"}[i%2], "ok", []string{"", "defer = true\n"}[i/2%2])
		if _, err := h.Reload(ctx); err != nil {
			t.Error(err)
		}
	}
	cancel()
	users.Wait()
}

// A session goes on as it began: what it has told in full stays so where deferral
// begins, and deferral goes on where there would be no need of it any more.
func TestDeferralGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := func(name string) string {
		return fmt.Sprintf("[[tools]]\nname = %q\ninput_schema = '{\"type\":\"object\"}'\ndefer = true\n", name)
	}
	h := open(t, host.Options{
		Builtins: true, Tools: []host.NativeTool{echo("Native", deferred)}, Model: host.ModelOptions{Toolset: host.ToolsetOptions{DeferOverTools: 12}},
		Plugins: host.PluginOptions{Sources: []plugins.Source{plugins.Dir(plugins.OriginUser, dir)}},
	})
	put := func(more ...string) {
		t.Helper()
		putPlugin(t, dir, "Early", "ok", "defer = true\n"+strings.Join(more, ""))
		if _, err := h.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put()
	began := session(t, h, host.SessionOptions{})
	wantOffered(t, began, builtins+" Native Early")
	const told = "Edit Glob Grep NotebookEdit Read TaskCreate TaskGet TaskList TaskUpdate ToolSearch Write Native Early"
	put(tool("Late"), tool("Later"))
	wantOffered(t, began, told)
	wantOffered(t, session(t, h, host.SessionOptions{}), withSearch)
	if r, _ := one(t, began, "Early", `{}`); r.Text() != "ok" {
		t.Errorf("what was told in full: %q", r.Text())
	}
	r, _ := one(t, began, "Late", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "deferred")
	put(tool("Late"))
	s := session(t, h, host.SessionOptions{})
	wantOffered(t, s, withSearch)
	wantOffered(t, began, told)
	put()
	wantOffered(t, began, builtins+" Native Early") // nothing is left to defer
	wantOffered(t, s, withSearch)
	wantOffered(t, session(t, h, host.SessionOptions{}), builtins+" Native Early")
}

// Nobody is sent to a tool that is not there any more.
func TestDeferredToolsWithoutToolSearch(t *testing.T) {
	t.Parallel()
	h := searchable(t, nil)
	s := session(t, h, host.SessionOptions{})
	definitions(t, s, host.FormatMCP)
	denied := host.Settings{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("ToolSearch")}}}
	if err := h.Apply(denied); err != nil {
		t.Fatal(err)
	}
	if r, _ := one(t, s, "LSP", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("got %q", r.Text())
	}
}

// A tool that was loaded and went is gone, and back with its plugin, as the model
// knows it.
func TestLoadedToolComesAndGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := searchable(t, func(o *host.Options) { o.Plugins.Sources = []plugins.Source{plugins.Dir(plugins.OriginUser, dir)} })
	s := session(t, h, host.SessionOptions{})
	reload := func() {
		t.Helper()
		if _, err := h.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	putPlugin(t, dir, "Show", "ok", "defer = true\n")
	reload()
	definitions(t, s, host.FormatOpenAI)
	one(t, s, "ToolSearch", `{"query":"select:Show"}`)
	if r, _ := one(t, s, "Show", `{}`); r.Text() != "ok" {
		t.Errorf("loaded: %q", r.Text())
	}
	if err := os.RemoveAll(filepath.Join(dir, "one")); err != nil {
		t.Fatal(err)
	}
	reload()
	if d := definitions(t, s, host.FormatOpenAI); strings.Contains(d, `"name":"Show"`) {
		t.Errorf("gone, and offered: %s", d)
	}
	if _, err := s.Request(host.FormatOpenAI, host.ToolChoice{Type: host.ChooseTool, Name: "Show"}); err == nil {
		t.Error("gone, and a model is to call it")
	}
	r, _ := one(t, s, "Show", `{}`)
	wantError(t, r, abi.CodeUnknownTool, `there is no tool "Show"`)
	if r, _ := one(t, s, "ToolSearch", `{"query":"select:Show"}`); strings.Contains(found(r), "did you mean Show") || r.Content[0].Type != abi.BlockText {
		t.Errorf("gone, and found: %+v", r.Content)
	}
	putPlugin(t, dir, "Show", "counter", "defer = true\nsummary = \"Shows more\"\n")
	reload()
	if d := definitions(t, s, host.FormatOpenAI); !strings.Contains(d, "Shows more") {
		t.Errorf("back, and not told of as it is now: %s", d)
	}
	if r, _ := one(t, s, "Show", `{}`); r.Text() != "1" {
		t.Errorf("back: %q", r.Text())
	}
}

// Where two plugins come to claim one name, the one that had it keeps it, until a tool of the
// embedder's own has it.
func TestDeferredNameIsClaimedTwice(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	h := searchable(t, func(o *host.Options) {
		o.Plugins.Sources = []plugins.Source{plugins.Dir(plugins.OriginUser, first), plugins.Dir(plugins.OriginUser, second)}
	})
	s := session(t, h, host.SessionOptions{})
	for _, step := range []struct {
		do   func()
		want string // what a search finds
		call string // what a call says
	}{
		{func() { putPlugin(t, first, "Show", "ok", "defer = true\n") }, "Show", "ok"},
		{func() {
			putPlugin(t, second, "Other", "ok", "aliases = [\"Show\"]\n")
			rename(t, filepath.Join(second, "one", "plugin.toml"), "two")
		}, "Show", "ok"},
		{func() { _ = os.RemoveAll(filepath.Join(second, "one")) }, "Show", "ok"},
		{func() { putPlugin(t, first, "WebFetch", "ok", "defer = true\n") }, "search for words", "there is no tool"},
	} {
		step.do()
		if _, err := h.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, _ := one(t, s, "ToolSearch", `{"query":"select:Show"}`); !strings.Contains(found(r), step.want) {
			t.Errorf("got %q, want %q", found(r), step.want)
		}
		if r, _ := one(t, s, "Show", `{}`); !strings.Contains(r.Text(), step.call) {
			t.Errorf("got %q, want %q", r.Text(), step.call)
		}
		if r, _ := one(t, s, "WebFetch", `{"s":"mine"}`); r.Text() != "mine" {
			t.Errorf("the embedder's own: %q", r.Text())
		}
	}
}

// rename gives the plugin of a manifest another name.
func rename(t *testing.T, file, name string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(text, []byte(`name = "one"`), fmt.Appendf(nil, "name = %q", name), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Models are told of tools by manifests alone: no module is compiled, which would be
// found broken here.
func TestDefinitionsCompileNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putPlugin(t, dir, "Show", "ok", "")
	module := filepath.Join(dir, "one", "one.wasm")
	if err := os.WriteFile(module, []byte("\x00asm\x01\x00\x00\x00\x0a\x03broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, s := reloadable(t, dir, nil)
	for _, format := range host.Formats() {
		if d := definitions(t, s, format); !strings.Contains(d, `"Show"`) {
			t.Errorf("%s: %s", format, d)
		}
	}
	if r := callOnce(t.Context(), t, s, "Show"); !r.IsError {
		t.Error("the module is not broken, so the test shows nothing")
	}
}

// manyTools is a session that defers so many tools of MCP servers.
func manyTools(b *testing.B, n int) *host.Session {
	b.Helper()
	h := open(b, host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}}})
	for i := range n {
		host.OfferMCP(h, mcp(fmt.Sprintf("server%d__do_thing_%d", i%20, i), func(c *abi.Tool) {
			c.Description = strings.Repeat("Does one of many things. ", 20)
		}))
	}
	return session(b, h, host.SessionOptions{})
}

// benchTools runs a benchmark with as many tools as are told of in full, and with as
// many as a person with many servers has.
func benchTools(b *testing.B, do func(*testing.B, *host.Session)) {
	b.Helper()
	for _, n := range []int{40, 1000} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			s := manyTools(b, n)
			do(b, s) // compiles what is called
			for b.Loop() {
				do(b, s)
			}
		})
	}
}

// BenchmarkToolSearch looks for words among tools.
func BenchmarkToolSearch(b *testing.B) {
	uses := []abi.ToolUse{use("1", "ToolSearch", `{"query":"+server7 thing 47 many"}`)}
	benchTools(b, func(b *testing.B, s *host.Session) {
		b.Helper()
		if r := s.Results(b.Context(), uses)[0]; r.IsError {
			b.Fatal(r.Text())
		}
	})
}

// BenchmarkDefinitions writes those of tools.
func BenchmarkDefinitions(b *testing.B) {
	benchTools(b, func(b *testing.B, s *host.Session) {
		b.Helper()
		definitions(b, s, host.FormatAnthropic)
	})
}
