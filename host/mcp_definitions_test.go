package host_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// mcpDefinitions are the definitions of a session for the Model Context Protocol, by name.
func mcpDefinitions(t *testing.T, s *host.Session) map[string]doc {
	t.Helper()
	var list []doc
	must(t, json.Unmarshal([]byte(definitions(t, s, host.FormatMCP)), &list))
	byName := make(map[string]doc)
	for _, d := range list {
		name, _ := d["name"].(string)
		byName[name] = d
	}
	return byName
}

// TestMCPHints holds the hints of the built-in tools to what they do: what only a call tells
// is the worse.
func TestMCPHints(t *testing.T) {
	t.Parallel()
	s := session(t, open(t, host.Options{Builtins: true, Shell: &host.Shell{}, Model: host.ModelOptions{
		Toolset: host.ToolsetOptions{Defer: host.DeferAlways},
	}}), host.SessionOptions{})
	definitions(t, s, host.FormatMCP)
	if r, _ := one(t, s, "ToolSearch", `{"query":"select:TaskStop,NotebookEdit"}`); r.IsError {
		t.Fatal(r.Text())
	}
	got := mcpDefinitions(t, s)
	for name, want := range map[string]string{
		"Bash":         "changes destroys open",
		"Edit":         "changes",
		"Glob":         "",
		"Grep":         "",
		"NotebookEdit": "changes",
		"Read":         "",
		"Sleep":        "",
		"TaskOutput":   "",
		"TaskStop":     "changes",
		"ToolSearch":   "",
		"Write":        "changes",
	} {
		hints, _ := got[name]["annotations"].(doc)
		var words []string
		for word, is := range map[string]bool{
			"changes": hints["readOnlyHint"] == false && hints["idempotentHint"] == false, "destroys": hints["destructiveHint"] == true, "open": hints["openWorldHint"] == true,
		} {
			if is {
				words = append(words, word)
			}
		}
		slices.Sort(words)
		if text := strings.Join(words, " "); text != want || len(hints) != 5 || hints["title"] != name || got[name]["title"] != name {
			t.Errorf("%s: got %q of %v, want %q", name, text, hints, want)
		}
		if icons, _ := got[name]["icons"].([]any); len(icons) != 1 {
			t.Errorf("%s has the icons %v", name, icons)
		}
	}
	if wild := mcpDefinitions(t, session(t, open(t, host.Options{Tools: []host.NativeTool{
		echo("Wild", func(c *abi.Tool) { c.ReadOnly, c.Destructive = abi.TraitFalse, abi.TraitTrue }),
	}}), host.SessionOptions{}))["Wild"]["annotations"].(doc); wild["destructiveHint"] != true || wild["openWorldHint"] != true {
		t.Errorf("got %v", wild)
	}
}

// texts are all descriptions in a schema or definition, with where they are.
func texts(v any, at string, take func(at, text string)) {
	switch v := v.(type) {
	case doc:
		for key, value := range v {
			if text, is := value.(string); is && key == "description" {
				take(at, text)
			}
			texts(value, at+"/"+key, take)
		}
	case []any:
		for _, value := range v {
			texts(value, at, take)
		}
	}
}

// TestTextsAreShort keeps every text about a built-in tool within what all clients hand on, in
// the one form in which they are cut and in one in which they are not.
func TestTextsAreShort(t *testing.T) {
	t.Parallel()
	s := session(t, open(t, host.Options{Builtins: true, Shell: &host.Shell{}, Model: host.ModelOptions{
		Toolset: host.ToolsetOptions{Defer: host.DeferNever},
	}}), host.SessionOptions{})
	for _, format := range []host.Format{host.FormatMCP, host.FormatAnthropic} {
		var list []any
		must(t, json.Unmarshal([]byte(definitions(t, s, format)), &list))
		for _, d := range list {
			tool, _ := d.(doc)
			texts(d, "", func(at, text string) {
				if len(text) > abi.MaxSafeText || strings.HasSuffix(text, "…") {
					t.Errorf("%s%s: %d bytes; the most are %d", tool["name"], at, len(text), abi.MaxSafeText)
				}
			})
		}
	}
}

// TestLongTextsAreCut has descriptions of somebody else's that are too long.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	sentence := "It does one more thing, as naïve as that is. "
	for name, test := range map[string]struct{ text, end string }{
		"sentences": {strings.Repeat(sentence, 60), "as that is. …"},
		"words":     {strings.Repeat("naïve word ", 300), " word …"},
		"one word":  {strings.Repeat("ï", 1500), "ï …"},
		"fits":      {strings.Repeat("x", abi.MaxSafeText), "xx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := echo("Long", func(c *abi.Tool) { c.Description = test.text })
			s := session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{})
			got, _ := mcpDefinitions(t, s)["Long"]["description"].(string)
			if len(got) > abi.MaxSafeText || len(got) < abi.MaxSafeText*3/4 || !strings.HasSuffix(got, test.end) && !strings.HasSuffix(got, strings.TrimSpace(test.end)) {
				t.Errorf("%d bytes that end in %q", len(got), got[len(got)-30:])
			}
			if !strings.Contains(definitions(t, s, host.FormatAnthropic), strings.TrimSpace(test.text)) {
				t.Error("it is cut for other formats, too")
			}
		})
	}
}
