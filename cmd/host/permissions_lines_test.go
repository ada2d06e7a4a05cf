package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/lines"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// rulesOn are rules written with one name of a tool.
func rulesOn(name string, properties []string) []string {
	out := []string{name, name + "(*)", name[:len(name)-1] + "*", name[:len(name)-1] + "*(*)"}
	for _, p := range properties {
		out = append(out, fmt.Sprintf("%s(%s:*)", name, p))
	}
	return out
}

// callBy is a call of a tool by one of its names, with the fields called as they are
// for that name.
func callBy(t *testing.T, tool *abi.Tool, name, example string) abi.ToolUse {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(example), &fields); err != nil {
		t.Fatal(err)
	}
	for _, r := range tool.Renames {
		if value, ok := fields[r.To]; ok && r.Alias == name {
			delete(fields, r.To)
			fields[r.From] = value
		}
	}
	input, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return abi.ToolUse{ID: "1", Name: name, Input: input}
}

// callsOf are calls of all built-in tools by all their names.
func callsOf(t *testing.T, tools []*abi.Tool) []abi.ToolUse {
	t.Helper()
	var out []abi.ToolUse
	for _, tool := range tools {
		examples := tool.InputExamples
		if len(examples) == 0 {
			examples = []string{`{"query": "notebook"}`} // of ToolSearch
		}
		for _, name := range append([]string{tool.Name}, tool.Aliases...) {
			for _, example := range examples {
				out = append(out, callBy(t, tool, name, example))
			}
		}
	}
	return out
}

// allRules are sets of one rule each: for each name of each tool, in each list.
func allRules(t *testing.T, tools []*abi.Tool) []permissions.RuleSet {
	t.Helper()
	var out []permissions.RuleSet
	for _, tool := range tools {
		var schema struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal([]byte(tool.InputSchema), &schema); err != nil {
			t.Fatal(err)
		}
		properties := slices.Sorted(maps.Keys(schema.Properties))
		for _, name := range append([]string{tool.Name}, tool.Aliases...) {
			for _, rule := range rulesOn(name, properties) {
				texts, source := permissions.RuleTexts(rule), permissions.SourceProject
				out = append(out, permissions.RuleSet{Source: source, Deny: texts},
					permissions.RuleSet{Source: source, Ask: texts}, permissions.RuleSet{Source: source, Allow: texts})
			}
		}
	}
	return out
}

// line is a call for permissions test.
func line(t *testing.T, rules map[string]string, use abi.ToolUse) string {
	t.Helper()
	lists := make(map[string][]string)
	for list, rule := range rules {
		lists[list] = []string{rule}
	}
	text, err := json.Marshal(map[string]any{"rules": lists, "tool": use.Name, "input": use.Input})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLinesJudgeAsTheHost holds permissions test to the host's verdicts: for rules
// written with each name of each built-in tool, and calls by each name.
func TestLinesJudgeAsTheHost(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools, err := host.BuiltinTools()
	if err != nil {
		t.Fatal(err)
	}
	off := &settings.Loaded{}
	off.Sandbox.Mode = settings.Key[string]{Value: settings.SandboxOff, Set: true}
	o, err := config.ForUser(config.Dirs{Home: filepath.Join(dir, "home")}, config.Project{}, off)
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background())
	s, err := h.NewSession(host.SessionOptions{Cwd: dir, Asker: approvals.Deny("nobody is asked")})
	if err != nil {
		t.Fatal(err)
	}
	uses := slices.DeleteFunc(callsOf(t, tools), func(u abi.ToolUse) bool {
		_, err := s.Explain(t.Context(), u)
		return abi.CodeOf(err) == abi.CodeUnknownTool || abi.CodeOf(err) == abi.CodeDisabled
	})
	if len(uses) < 20 {
		t.Fatalf("only %d calls can be compared", len(uses))
	}
	var questions bytes.Buffer
	var want []permissions.Verdict
	var about []string
	sets := allRules(t, tools)
	step := len(sets) / testenv.Sample(len(sets))
	for i := 0; i < len(sets); i += step {
		set := sets[i]
		if err := h.Apply(host.Settings{Rules: []permissions.RuleSet{set}}); err != nil {
			continue // no rule can be written so
		}
		rules := make(map[string]string)
		for list, texts := range map[string][]permissions.RuleText{"deny": set.Deny, "ask": set.Ask, "allow": set.Allow} {
			for _, text := range texts {
				rules[list] = text.Text
			}
		}
		for _, use := range uses {
			x, err := s.Explain(t.Context(), use)
			if err != nil {
				t.Fatalf("%s %s: %v", use.Name, use.Input, err)
			}
			fmt.Fprintln(&questions, line(t, rules, use))
			want, about = append(want, x.Decision.Verdict), append(about, fmt.Sprint(rules, use.Name, string(use.Input)))
		}
	}
	var out bytes.Buffer
	at := host.CommandPlace{Cwd: filepath.ToSlash(dir), Home: filepath.ToSlash(filepath.Join(dir, "home"))}
	if _, err := lines.Test(&questions, &out, at, lines.NewToolset(tools)); err != nil {
		t.Fatal(err)
	}
	answers := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if len(answers) != len(want) {
		t.Fatalf("%d answers to %d calls", len(answers), len(want))
	}
	wrong := 0
	for i, answer := range answers {
		var got lines.Judgement
		if err := json.Unmarshal(answer, &got); err != nil || got.Verdict != want[i] {
			if wrong++; wrong <= 30 {
				t.Errorf("%s: %s; the host says %s", about[i], answer, want[i])
			}
		}
	}
	t.Logf("%d verdicts compared, %d differ", len(want), wrong)
}
