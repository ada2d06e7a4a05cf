package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/message/stream"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// hostileTexts are what must reach no terminal as it is. Each holds a line that would pass
// for one of the question's own.
var hostileTexts = map[string]string{
	"line break":  "a\n  effect   read forged\r\n  in       forged",
	"terminal":    "\x1b[2J\x1b]0;t\a\x9b1m\x7f\b",
	"direction":   "\u202ea\u2066b\u200f",
	"no room":     "\u200b\ufeff\U000e0041\u3164\u2800\ufe0f\u00ad",
	"other lines": "a\u2028  effect   forged\u2029\u0085\v\f",
	"tab":         "a\tb\t\tc",
	"no UTF-8":    "a\xff\xfe\x80b",
	"long":        strings.Repeat("\x1b\n", 3000),
}

// approvalFields put a text into each field of a question.
var approvalFields = map[string]func(a *host.Approval, text string){
	"id":         func(a *host.Approval, text string) { a.ID = text },
	"session":    func(a *host.Approval, text string) { a.Session = text },
	"directory":  func(a *host.Approval, text string) { a.Cwd = text },
	"mode":       func(a *host.Approval, text string) { a.Mode = permissions.Mode(text) },
	"call":       func(a *host.Approval, text string) { a.CallID = text },
	"tool":       func(a *host.Approval, text string) { a.Tool = text },
	"plugin":     func(a *host.Approval, text string) { a.Plugin = text },
	"title":      func(a *host.Approval, text string) { a.Title = text },
	"capability": func(a *host.Approval, text string) { a.Capability = text },
	"input": func(a *host.Approval, text string) {
		a.Input, _ = json.Marshal(map[string]string{text: text})
		a.Accesses = nil
	},
	"raw input": func(a *host.Approval, text string) { a.Input, a.Title = json.RawMessage(text), "" },
	"path":      func(a *host.Approval, text string) { a.Accesses[0].Target = "/" + text },
	"real path": func(a *host.Approval, text string) { a.Accesses[0].Real = "/" + text },
	"glob":      func(a *host.Approval, text string) { a.Accesses[0].Tree, a.Accesses[0].Glob = true, "/"+text },
	"kind":      func(a *host.Approval, text string) { a.Accesses[0].Kind = permissions.AccessKind(text) },
	"host": func(a *host.Approval, text string) {
		a.Accesses[0] = permissions.Access{Kind: permissions.AccessNet, Target: text}
	},
	"command": func(a *host.Approval, text string) {
		a.Accesses = append(a.Accesses, permissions.Access{Kind: permissions.AccessExec, Target: text})
	},
	"two commands": func(a *host.Approval, text string) {
		a.Accesses = append(a.Accesses, permissions.Access{Kind: permissions.AccessExec, Target: "true"},
			permissions.Access{Kind: permissions.AccessExec, Target: text})
	},
	"preview":    func(a *host.Approval, text string) { a.Preview = text },
	"rule":       func(a *host.Approval, text string) { a.Remember[0].Rules = []string{text, text} },
	"rules file": func(a *host.Approval, text string) { a.Remember[0].File = text },
	"scope":      func(a *host.Approval, text string) { a.Remember[0].Target = host.RuleTarget(text) },
}

// TestApprovalsAreEscaped is the law that nothing of a question reaches a terminal as it
// is: every hostile text stands in every field, and is shown in every way there is.
func TestApprovalsAreEscaped(t *testing.T) {
	t.Parallel()
	for field, put := range approvalFields {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			for kind, text := range hostileTexts {
				q := host.Approval{
					ID: "q1", Session: "s1", Cwd: "/work", Mode: permissions.ModeDefault, CallID: "c1", Tool: "Edit", Plugin: "files",
					Title: "a.txt", Input: json.RawMessage(`{"path":"a.txt"}`), Asked: time.Unix(0, 0),
					Accesses: []permissions.Access{{Kind: permissions.AccessRead, Target: "/work/a.txt", Real: "/work/a.txt"}},
					Remember: []host.RememberOption{{Target: host.TargetUser, Rules: []string{"Edit"}, File: "/home/settings.toml"}},
				}
				put(&q, text)
				for way, shown := range shownApprovals(t, q, text) {
					checkShown(t, kind+", "+way, shown, strings.HasPrefix(way, "json"), len(q.Accesses))
				}
			}
		})
	}
}

// asksChoice and asksPlan make a question one of these kinds.
func asksChoice(q *host.Question, c abi.ChoiceQuestion) {
	q.Kind, q.Ask = host.QuestionChoice, host.Ask{Choice: &host.Choice{Questions: []abi.ChoiceQuestion{c, {Question: "And?", Options: c.Options}}}}
}

func asksPlan(q *host.Question, p host.PlanQuestion) {
	p.Modes = append(p.Modes, permissions.ModeDefault, permissions.ModeAcceptEdits)
	q.Kind, q.Ask = host.QuestionPlan, host.Ask{Plan: &p}
}

// requestFields put a text into each field of what a tool asks.
func requestFields() map[string]func(q *host.Question, text string) {
	return map[string]func(q *host.Question, text string){
		"tool":      func(q *host.Question, text string) { q.Tool = text },
		"plugin":    func(q *host.Question, text string) { q.Plugin = text },
		"worker":    func(q *host.Question, text string) { q.Worker = text },
		"title":     func(q *host.Question, text string) { q.Title = text },
		"directory": func(q *host.Question, text string) { q.Cwd = text },
		"message":   func(q *host.Question, text string) { q.Form.Message = text },
		"field": func(q *host.Question, text string) {
			q.Form.Schema, _ = json.Marshal(map[string]any{"type": "object", "properties": map[string]any{text: map[string]any{
				"type": "string", "title": text, "description": text, "enum": []string{text}, "default": text,
			}}})
		},
		"question": func(q *host.Question, text string) {
			asksChoice(q, abi.ChoiceQuestion{Question: text, Options: []abi.ChoiceOption{{Label: "a"}, {Label: "b"}}})
		},
		"header": func(q *host.Question, text string) {
			asksChoice(q, abi.ChoiceQuestion{Question: "Which?", Header: text, Options: []abi.ChoiceOption{{Label: "a"}, {Label: "b"}}})
		},
		"option": func(q *host.Question, text string) {
			asksChoice(q, abi.ChoiceQuestion{Question: "Which?", MultiSelect: true, Options: []abi.ChoiceOption{{Label: text, Description: text}, {Label: "b"}}})
		},
		"plan":      func(q *host.Question, text string) { asksPlan(q, host.PlanQuestion{Plan: text}) },
		"plan file": func(q *host.Question, text string) { asksPlan(q, host.PlanQuestion{Plan: "Mend it.", Path: text}) },
		"proposal": func(q *host.Question, text string) {
			asksPlan(q, host.PlanQuestion{Plan: "Mend it.", Proposals: []abi.PlanProposal{{Tool: text, Prompt: text}}})
		},
		"mode": func(q *host.Question, text string) {
			asksPlan(q, host.PlanQuestion{Plan: "Mend it.", Modes: []permissions.Mode{permissions.Mode(text)}})
		},
		"URL": func(q *host.Question, text string) {
			q.Kind, q.Form, q.URL = host.QuestionURL, nil, &host.URLQuestion{Message: text, URL: "https://example.com/" + text}
		},
	}
}

// TestRequestsAreEscaped is the same law for what tools ask people.
func TestRequestsAreEscaped(t *testing.T) {
	t.Parallel()
	for field, put := range requestFields() {
		for kind, text := range hostileTexts {
			q := host.Question{ID: "q1", Kind: host.QuestionForm, Tool: "Deploy", Cwd: "/work", Ask: host.Ask{Form: &host.Form{
				Message: "Where to?", Schema: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string","default":"here"}}}`),
			}}}
			put(&q, text)
			item := approvals.Item{State: approvals.StatePending, Record: approvals.Record{
				Call: approvals.Call{Use: abi.ToolUse{Name: q.Tool}, Plugin: q.Plugin, Worker: q.Worker, Title: q.Title},
				Part: approvals.Part{Kind: q.Kind}, Origin: approvals.Origin{Cwd: q.Cwd}, URL: q.URL, Choice: q.Choice, Plan: q.Plan,
			}}
			if q.Form != nil {
				item.Form = &approvals.Form{Message: q.Form.Message, Schema: string(q.Form.Schema)}
			}
			answers := filepath.Join(t.TempDir(), "answers")
			if err := os.WriteFile(answers, []byte("y\nv\n1\n1\nd\ny\n\ny\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for way, show := range map[string]func(a *app){
				"asked": func(a *app) {
					in, err := os.Open(answers)
					if err != nil {
						t.Fatal(err)
					}
					defer in.Close()
					_, _ = ui.NewAsker(a.out, in).Ask(t.Context(), q)
				},
				"approvals list": func(a *app) { tableOfApprovals(a, []approvals.Item{item}) },
				"approvals show": func(a *app) { _ = showItem(a, &item) },
				"json of a stream": func(a *app) {
					_ = printIndented(a.out, stream.NewReporter(1).Line(host.Event{Kind: host.EventQuestion, Question: &q}), "")
				},
			} {
				checkShown(t, field+", "+kind+", "+way, printed(t, show), strings.HasPrefix(way, "json"), 0)
			}
		}
	}
}

// shownApprovals shows a question in every way. reason is what it was asked for.
func shownApprovals(t *testing.T, q host.Approval, reason string) map[string]string {
	t.Helper()
	item := approvals.Item{State: approvals.StatePending, Record: approvals.Record{
		ID: q.ID, Asked: q.Asked,
		Call:   approvals.Call{Use: abi.ToolUse{ID: q.CallID, Name: q.Tool, Input: q.Input}, Plugin: q.Plugin, Title: q.Title},
		Origin: approvals.Origin{Session: q.Session, Cwd: q.Cwd, Mode: q.Mode},
	}}
	item.Why = approvals.Why{Reason: reason, Rule: reason, Source: reason, Matched: reason}
	item.Preview, item.Offers = q.Preview, q.Remember
	item.Capability = q.Capability
	for _, a := range q.Accesses {
		item.Accesses = append(item.Accesses, approvals.Access{Access: a})
	}
	ways := map[string]func(a *app){
		"asked at a pipe": func(a *app) {
			null, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer null.Close()
			_, _ = ui.NewAsker(a.out, null).Ask(t.Context(), host.Question{Kind: host.QuestionApproval, Approval: &q}) // nobody answers
		},
		"asked at a terminal": func(a *app) {
			a.out.Terminal, a.out.Width = true, 80
			ui.ShowApproval(a.out, q)
		},
		"approvals list": func(a *app) { tableOfApprovals(a, []approvals.Item{item}) },
		"approvals show": func(a *app) { _ = showItem(a, &item) },
	}
	if json.Valid(q.Input) {
		ways["json of approvals"] = func(a *app) { _ = a.printJSON(item) }
		ways["json of a stream"] = func(a *app) {
			e := host.Event{Kind: host.EventQuestion, Question: &host.Question{Approval: &q}, Tool: q.Tool, Title: q.Title}
			_ = printIndented(a.out, stream.NewReporter(1).Line(e), "")
		}
	}
	shown := make(map[string]string)
	for way, show := range ways {
		shown[way] = printed(t, show)
	}
	return shown
}

// printed is what a command prints.
func printed(t *testing.T, show func(a *app)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	show(&app{out: ui.NewPrinter(f), err: ui.NewPrinter(f)})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestKeptQuestionsAreShownWhole: approvals show tells all that the question told, also of
// records that have no list of reasons.
func TestKeptQuestionsAreShownWhole(t *testing.T) {
	t.Parallel()
	const edit = "? Edit a.txt?\n  | -a\n  | +b\n  first\n  second\n" +
		"  tool     Edit (plugin files), while it runs: fs.write: line 1\n  from     w1\n  in       /work\n  it is    pending\n"
	target := permissions.Access{Kind: permissions.AccessWrite, Target: "/work/a.txt", Real: "/work/a.txt"}
	for want, item := range map[string]approvals.Item{
		edit: {State: approvals.StatePending, Record: approvals.Record{
			Call:    approvals.Call{Use: abi.ToolUse{Name: "Edit"}, Plugin: "files", Worker: "w1", Title: "line 1"},
			Part:    approvals.Part{Capability: "fs.write", Accesses: []approvals.Access{{Access: target}}},
			Grounds: approvals.Grounds{Reasons: []string{"first", "second"}, Preview: "-a\n+b"},
			Origin:  approvals.Origin{Cwd: "/work"},
		}},
		"? Use Count?\n  | 1\n  older\n  tool     Count\n  it is    allowed\n": {State: approvals.StateAllowed, Record: approvals.Record{
			Call:    approvals.Call{Use: abi.ToolUse{Name: "Count", Input: json.RawMessage("1")}},
			Grounds: approvals.Grounds{Why: approvals.Why{Reason: "older"}},
		}},
	} {
		if got := printed(t, func(a *app) { _ = showItem(a, &item) }); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// checkShown holds what was shown to the law. The body of a question, which is set in, may
// have tabs.
func checkShown(t *testing.T, what, shown string, isJSON bool, accesses int) {
	t.Helper()
	effects, directories := 0, 0
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "  effect") {
			effects++
		}
		if strings.HasPrefix(line, "  in  ") {
			directories++
		}
		for _, r := range line {
			if !visible.Rune(r) && (r != '\t' || isJSON || !strings.HasPrefix(line, "    ")) {
				t.Errorf("%s: %q comes through in %.200q", what, r, line)
				break
			}
		}
	}
	if lines := strings.Count(shown, "\n"); isJSON && lines > 1 {
		t.Errorf("%s: a line of JSON has %d lines", what, lines)
	}
	// What is cut is shown twice: its beginning, and all.
	if effects > 2*accesses || directories > 1 {
		t.Errorf("%s: %d effects of %d, %d directories:\n%s", what, effects, accesses, directories, shown)
	}
}
