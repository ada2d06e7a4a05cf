package host_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// builtins are the built-in tools that a model is offered, and withSearch the same where
// others are deferred.
const (
	builtins   = "Edit Glob Grep NotebookEdit Read TaskCreate TaskGet TaskList TaskUpdate Write"
	withSearch = "Edit Glob Grep Read TaskCreate ToolSearch Write"
)

// withoutDeferred denies the built-in tools that can be deferred.
func withoutDeferred() []permissions.RuleSet {
	return []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("NotebookEdit", "TaskGet", "TaskList", "TaskUpdate")}}
}

func deferred(c *abi.Tool) { c.Defer = true }

// mcp is the contract of an MCP server's tool.
func mcp(name string, change ...func(*abi.Tool)) abi.Tool {
	c := echo("mcp__"+name, change...).Contract
	c.Summary = "An MCP server's"
	return c
}

// definitions are those that a session has in a format.
func definitions(tb testing.TB, s *host.Session, format host.Format) string {
	tb.Helper()
	d, err := s.Definitions(format)
	if err != nil {
		tb.Fatal(err)
	}
	return string(d)
}

// offered are the names in the definitions of a session, for the API that has no
// notion of deferral.
func offered(tb testing.TB, s *host.Session) []string {
	tb.Helper()
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(definitions(tb, s, host.FormatResponses)), &list); err != nil {
		tb.Fatal(err)
	}
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name
	}
	return names
}

func wantOffered(tb testing.TB, s *host.Session, want string) {
	tb.Helper()
	if got := strings.Join(offered(tb, s), " "); got != want {
		tb.Errorf("offered: %s\nwant:    %s", got, want)
	}
}

// toolPlugins makes a source of plugins, each with the tools given, in a directory
// that lists them in the order given.
func toolPlugins(list ...[]string) plugins.Source {
	files := fstest.MapFS{}
	for i, tools := range list {
		folder := fmt.Sprintf("p%02d", i)
		name := "p-" + strings.ToLower(slices.Min(tools))
		var manifest strings.Builder
		fmt.Fprintf(&manifest, "manifest = 1\nname = %q\nversion = \"1.0.0\"\n", name)
		for _, tool := range tools {
			fmt.Fprintf(&manifest, "[[tools]]\nname = %q\nsummary = \"A plugin's\"\ninput_schema = '{\"type\":\"object\"}'\n", tool)
		}
		files[folder+"/plugin.toml"] = &fstest.MapFile{Data: []byte(manifest.String())}
		files[folder+"/"+name+".wasm"] = &fstest.MapFile{Data: []byte("\x00asm\x01\x00\x00\x00")}
	}
	return plugins.Source{Origin: plugins.OriginFlag, Path: "/test", FS: files}
}

// However tools are discovered, a model is told of them in one order.
func TestOrderOfTools(t *testing.T) {
	t.Parallel()
	natives := []host.NativeTool{echo("Zebra"), echo("Alpha"), echo("Beta")}
	servers := []abi.Tool{mcp("x__y"), mcp("a__z"), mcp("b__b")}
	own := [][]string{{"Yak", "Bison"}, {"Cow"}, {"Aardvark", "Ape"}}
	const want = builtins + " Alpha Beta Zebra Aardvark Ape Bison Cow Yak mcp__a__z mcp__b__b mcp__x__y"
	var first string
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		random.Shuffle(len(natives), func(i, j int) { natives[i], natives[j] = natives[j], natives[i] })
		random.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		random.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
		for _, tools := range own {
			random.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		}
		at := random.IntN(len(own) + 1)
		h := open(t, host.Options{
			Builtins: true, Tools: natives, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferNever}},
			Plugins: host.PluginOptions{Sources: []plugins.Source{toolPlugins(own[:at]...), toolPlugins(own[at:]...)}},
		})
		host.OfferMCP(h, servers...)
		s := session(t, h, host.SessionOptions{})
		wantOffered(t, s, want)
		got := definitions(t, s, host.FormatAnthropic)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("the same tools, found in another order, make\n%s\nand before\n%s", got, first)
		}
	}
}

// numbered are tools of a kind, Tool001 and so on.
func numbered(n int, change ...func(*abi.Tool)) []host.NativeTool {
	tools := make([]host.NativeTool, n)
	for i := range tools {
		tools[i] = echo(fmt.Sprintf("Tool%03d", i+1), change...)
	}
	return tools
}

// Tools are deferred over a bound, and not at it.
func TestDeferralByNumber(t *testing.T) {
	t.Parallel()
	// ToolSearch is not sent where nothing is deferred, and a built-in tool is deferred itself.
	count, left := len(strings.Fields(builtins)), len(strings.Fields(withSearch))
	for _, test := range []struct{ natives, bound, want int }{
		{40 - count, 0, 40},
		{41 - count, 0, left},
		{12 - count, 12, 12},
		{13 - count, 12, left},
	} {
		h := open(t, host.Options{Builtins: true, Tools: numbered(test.natives, deferred), Model: host.ModelOptions{Toolset: host.ToolsetOptions{DeferOverTools: test.bound}}})
		s := session(t, h, host.SessionOptions{})
		if got := offered(t, s); len(got) != test.want || slices.Contains(got, "ToolSearch") != (test.want == left) {
			t.Errorf("%d tools with the bound %d: offered %v", test.natives+count, test.bound, got)
		}
	}
}

// The bound on code points is on what a model would be shown, counted in the format that it
// would be sent in: clients of MCP show it no output schema.
func TestDeferralBySize(t *testing.T) {
	t.Parallel()
	tools := numbered(3, deferred, func(c *abi.Tool) { c.Description = "Größe — 大小 \"<&>\"\n🦓" })
	for _, format := range host.Formats() {
		never := session(t, open(t, host.Options{Builtins: true, Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferNever}}}), host.SessionOptions{})
		all := definitions(t, never, format)
		size := utf8.RuneCountInString(all)
		if size == len(all) {
			t.Fatal("the test has no characters of several bytes")
		}
		if format == host.FormatMCP {
			var list []struct{ OutputSchema json.RawMessage }
			must(t, json.Unmarshal([]byte(all), &list))
			for _, tool := range list {
				if tool.OutputSchema != nil {
					size -= len(`"outputSchema":,`) + utf8.RuneCount(tool.OutputSchema)
				}
			}
		}
		for bound, same := range map[int]bool{size: true, size - 1: false} {
			h := open(t, host.Options{Builtins: true, Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{DeferOverChars: bound}}})
			if got := definitions(t, session(t, h, host.SessionOptions{}), format); (got == all) != same {
				t.Errorf("%s: %d characters with a bound of %d: got %s", format, size, bound, got)
			}
		}
	}
	long := numbered(2, deferred, func(c *abi.Tool) { c.Description = strings.Repeat("ä", host.DefaultDeferOverChars/2) })
	s := session(t, open(t, host.Options{Builtins: true, Tools: long}), host.SessionOptions{})
	wantOffered(t, s, withSearch)
}

func TestWhatIsDeferred(t *testing.T) {
	t.Parallel()
	always := func(c *abi.Tool) { c.AlwaysLoad = true }
	tools := []host.NativeTool{
		echo("Plain"), echo("Deferred", deferred), echo("Kept", always),
	}
	const all = builtins + " Deferred Kept Plain mcp__a__b mcp__a__kept"
	const some = withSearch + " Kept Plain mcp__a__kept"
	deny := func(rule string) []permissions.RuleSet {
		return []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts(rule)}}
	}
	for name, test := range map[string]struct {
		options host.Options
		want    string
	}{
		"few":                   {host.Options{Builtins: true}, all},
		"few, but asked for":    {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}}}, some},
		"many":                  {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{DeferOverTools: 1}}}, some},
		"many, and not wanted":  {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{DeferOverTools: 1, Defer: host.DeferNever}}}, all},
		"no ToolSearch":         {host.Options{Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}}}, strings.TrimPrefix(all, builtins+" ")},
		"ToolSearch is denied":  {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways}}, Permissions: host.PermissionOptions{Rules: deny("ToolSearch")}}, all},
		"ToolSearch not listed": {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways, Only: []string{"Plain", "Deferred"}}}}, "Deferred Plain"},
		"ToolSearch is listed":  {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways, Only: []string{"ToolSearch", "Deferred"}}}}, "ToolSearch"},
		"nothing to defer":      {host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways, Only: []string{"ToolSearch", "Plain"}}}}, "Plain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := test.options
			o.Tools = tools
			h := open(t, o)
			host.OfferMCP(h, mcp("a__b"), mcp("a__kept", always))
			wantOffered(t, session(t, h, host.SessionOptions{}), test.want)
		})
	}
}

// How each API is told of deferred tools, before and after one was loaded.
func TestDeferredDefinitions(t *testing.T) {
	t.Parallel()
	for format, want := range map[host.Format]struct {
		deferred     string // how the tool is told of
		loadedBefore bool   // before it is loaded too
	}{
		host.FormatAnthropic: {deferred: `{"name":"Late","description":"Echoes","input_schema":{"type":"object"},"defer_loading":true}`, loadedBefore: true},
		host.FormatOpenAI:    {deferred: `"parameters":{"type":"object"}}},{"type":"function","function":{"name":"Late","description":"Echoes","parameters":{"type":"object"}}}`},
		host.FormatMCP:       {deferred: `{"name":"Late","title":"Late","description":"Echoes","inputSchema":{"type":"object"},"annotations":`},
	} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			h := open(t, host.Options{
				Builtins: true, Tools: []host.NativeTool{echo("Early"), echo("Late", deferred), echo("Later", deferred)},
				Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: host.DeferAlways, Only: []string{"ToolSearch", "Early", "Late", "Later"}}},
			})
			s := session(t, h, host.SessionOptions{})
			before := definitions(t, s, format)
			if !strings.Contains(before, `\n\nDeferred tools: Late, Later"`) {
				t.Errorf("the deferred tools are not named: %s", before)
			}
			if strings.Contains(before, want.deferred) != want.loadedBefore {
				t.Errorf("before it is loaded: %s", before)
			}
			if again := definitions(t, s, format); again != before {
				t.Errorf("asked again:\n%s\nwant\n%s", again, before)
			}
			if r, _ := one(t, s, "ToolSearch", `{"query":"select:Late"}`); r.IsError {
				t.Fatal(r.Text())
			}
			after := definitions(t, s, format)
			if !strings.Contains(after, want.deferred) {
				t.Errorf("after it is loaded: %s", after)
			}
			if (after == before) != want.loadedBefore {
				t.Errorf("%s changed from\n%s\nto\n%s", format, before, after)
			}
		})
	}
}

// Turns leave the definitions as they are, byte for byte.
func TestDefinitionsStayTheSame(t *testing.T) {
	t.Parallel()
	for _, o := range []host.ToolsetOptions{{}, {Defer: host.DeferAlways}} {
		h := open(t, host.Options{Builtins: true, Tools: numbered(4, deferred), Model: host.ModelOptions{Toolset: o}})
		s := session(t, h, host.SessionOptions{})
		before := make(map[host.Format]string)
		for _, f := range host.Formats() {
			before[f] = definitions(t, s, f)
		}
		for range 3 {
			one(t, s, "Glob", `{"pattern":"*"}`)
			one(t, s, "Nothing", `{}`)
			if _, err := h.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			for f, want := range before {
				if got := definitions(t, s, f); got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", f, got, want)
				}
			}
		}
	}
}

func TestPresets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{host.PresetFull: "", host.PresetMinimal: "Bash Read Edit"} {
		list, err := host.Preset(name)
		if err != nil || strings.Join(list, " ") != want {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	if _, err := host.Preset("huge"); err == nil || !strings.Contains(err.Error(), "full and minimal") {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]host.Deferral{"": host.DeferAuto, "auto": host.DeferAuto, "never": host.DeferNever} {
		if got, err := host.ParseDeferral(name); err != nil || got != want {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if _, err := host.ParseDeferral("some"); err == nil {
		t.Error("the deferral some was taken")
	}
	for name, want := range map[string]host.Audience{"": host.AudienceMain, "main": host.AudienceMain, "background": host.AudienceBackground} {
		if got, err := host.ParseAudience(name); err != nil || got != want {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if _, err := host.ParseAudience("all"); err == nil {
		t.Error("the audience all was taken")
	}
}

// What is not in the list is not offered, and not called either.
func TestOnly(t *testing.T) {
	t.Parallel()
	list, _ := host.Preset(host.PresetMinimal)
	tools := []host.NativeTool{echo("Other"), echo("New", func(c *abi.Tool) { c.Aliases = []string{"Bash"} })}
	s := session(t, open(t, host.Options{Builtins: true, Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Only: list}}}), host.SessionOptions{})
	wantOffered(t, s, "Edit Read New")
	r, _ := one(t, s, "Other", `{}`)
	wantError(t, r, abi.CodeDisabled, "Other is not among the tools that are offered here")
	r, _ = one(t, s, "Nothing", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "there are Edit, Read, New")
	r, _ = one(t, s, "edit", `{}`)
	wantError(t, r, abi.CodeUnknownTool, "did you mean Edit?")
	if r, _ := one(t, s, "New", `{"s":"x"}`); r.Text() != "x" {
		t.Errorf("got %q", r.Text())
	}
}

func TestAudiences(t *testing.T) {
	t.Parallel()
	background := func(c *abi.Tool) { c.Background = true }
	tools := []host.NativeTool{
		echo("Helper", background, func(c *abi.Tool) { c.Aliases = []string{"Agent"} }), echo("Behind", background), echo("Front"),
		echo("Person", background, func(c *abi.Tool) { c.RequiresUser = true }),
	}
	h := open(t, host.Options{Builtins: true, Tools: tools})
	host.OfferMCP(h, mcp("a__behind", background), mcp("a__front"))
	for audience, test := range map[host.Audience]struct {
		want    string
		refused map[string]string
	}{
		host.AudienceMain: {
			"AskUserQuestion Edit EnterPlanMode ExitPlanMode " + strings.TrimPrefix(builtins, "Edit ") + " Behind Front Helper Person mcp__a__behind mcp__a__front", nil,
		},
		host.AudienceSubagent: {
			builtins + " Behind Front Person mcp__a__behind mcp__a__front",
			map[string]string{"Agent": "not for sub-agents", "ExitPlanMode": "not for sub-agents", "AskUserQuestion": "not for sub-agents"},
		},
		host.AudienceBackground: {
			builtins + " Behind mcp__a__behind",
			map[string]string{
				"Agent": "not for sub-agents", "EnterPlanMode": "not for sub-agents", "Front": "not for agents in the background",
				"mcp__a__front": "not for agents in the background", "Person": "needs a person",
			},
		},
	} {
		t.Run(string(audience), func(t *testing.T) {
			t.Parallel()
			s := session(t, h, host.SessionOptions{Audience: audience, Asker: replies(yesReply)})
			wantOffered(t, s, test.want)
			for name, says := range test.refused {
				r, _ := one(t, s, name, `{}`)
				wantError(t, r, abi.CodeDisabled, says)
			}
			if r, _ := one(t, s, "Behind", `{"s":"x"}`); r.Text() != "x" {
				t.Errorf("got %q", r.Text())
			}
		})
	}
}

// What is told of the tools agrees with what the model is told.
func TestToolStates(t *testing.T) {
	t.Parallel()
	tools := []host.NativeTool{
		echo("Plain"), echo("Late", deferred), echo("Denied"), echo("Off", func(c *abi.Tool) { c.Enabled = abi.TraitFalse }), echo("Unlisted"),
	}
	only := []string{"Read", "ToolSearch", "Plain", "Late", "Denied", "Off"}
	for _, deferral := range []host.Deferral{host.DeferNever, host.DeferAlways} {
		h := open(t, host.Options{
			Builtins: true, Tools: tools, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Defer: deferral, Only: only}},
			Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Denied")}}},
		})
		s := session(t, h, host.SessionOptions{})
		for _, format := range host.Formats() {
			states, err := s.Tools(format)
			if err != nil {
				t.Fatal(err)
			}
			size, why := len("[]")-1, make(map[string]string)
			if format == host.FormatGemini {
				size += len(`{"functionDeclarations":[]}`)
			}
			for _, state := range states {
				switch {
				case state.NotOffered != nil:
					why[state.Name] = state.NotOffered.Error()
				case deferral == host.DeferNever:
					size += state.Chars + 1
				case state.Deferred != (state.Name == "Late") || state.Loaded:
					t.Errorf("%s: deferred %v, loaded %v", state.Name, state.Deferred, state.Loaded)
				}
			}
			if got := utf8.RuneCountInString(definitions(t, s, format)); deferral == host.DeferNever && got != size {
				t.Errorf("%s: %d characters are sent, and %d were told", format, got, size)
			}
			for name, says := range map[string]string{
				"Denied": "a deny rule", "Off": "switched off", "Unlisted": "not among the tools", "Glob": "not among the tools",
			} {
				if !strings.Contains(why[name], says) {
					t.Errorf("%s is not offered because %q; want %q", name, why[name], says)
				}
			}
			if hidden := strings.Contains(why["ToolSearch"], "nothing to find"); hidden != (deferral == host.DeferNever) || why["Plain"]+why["Read"] != "" {
				t.Errorf("%s: %v", deferral, why)
			}
		}
		one(t, s, "ToolSearch", `{"query":"select:Late"}`)
		states, _ := s.Tools(host.FormatMCP)
		for _, state := range states {
			if state.Loaded != (state.Name == "Late" && deferral == host.DeferAlways) {
				t.Errorf("%s: loaded %v", state.Name, state.Loaded)
			}
		}
	}
}
