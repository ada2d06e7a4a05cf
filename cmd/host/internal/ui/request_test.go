package ui

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// formQuestion is a form with a field of each type.
func formQuestion(message string) host.Question {
	return host.Question{
		Kind: host.QuestionForm, Tool: "Deploy", Plugin: "ops", Worker: "reviewer", Title: "staging", Cwd: "/ws/proj",
		Ask: host.Ask{Form: &host.Form{Message: message, Schema: json.RawMessage(`{"type":"object","required":["name","size"],"properties":{
			"name":{"type":"string","title":"Your name","description":"As on the \u001b[2Jdoor","minLength":2},
			"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}],"default":"l"},
			"tags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}},
			"count":{"type":"integer","minimum":1,"default":3},
			"sure":{"type":"boolean"},
			"mail":{"type":"string","format":"email"}}}`)}},
	}
}

func urlQuestion(url string) host.Question {
	return host.Question{
		Kind: host.QuestionURL, Tool: "mcp__hub__deploy", Server: "hub", Cwd: "/ws/proj",
		Ask: host.Ask{URL: &host.URLQuestion{Message: "Sign in\x1b[2J first.", URL: url}},
	}
}

func TestFormIsFilledIn(t *testing.T) {
	t.Parallel()
	const all = "y\nAnn\n1\na, 3\n5\nyes\nann@example.com\n"
	full := `{"count":5,"mail":"ann@example.com","name":"Ann","size":"s","sure":true,"tags":["a","c"]}`
	for name, test := range map[string]struct {
		in, content string
		answer      host.Answer
		message     string
		err         error
	}{
		"all":               {all + "y\n", full, host.AnswerAllow, "", nil},
		"defaults":          {"y\nAnn\n\n\n\n\n\ny\n", `{"count":3,"name":"Ann","size":"l"}`, host.AnswerAllow, "", nil},
		"wrong, then right": {"y\n\nA\nAnn\nhuge\nlarge\n9\nb\n0\n1\nperhaps\nn\nann\nann@example.com\ny\n", `{"count":1,"mail":"ann@example.com","name":"Ann","size":"l","sure":false,"tags":["b"]}`, host.AnswerAllow, "", nil},
		"again":             {"y\nBob\n\n\n\n\n\na\nAnn\n\n\n\n\n\ny\n", `{"count":3,"name":"Ann","size":"l"}`, host.AnswerAllow, "", nil},
		"not sent":          {all + "n\n", "", host.AnswerDeny, "", nil},
		"declined":          {"n\n", "", host.AnswerDeny, "", nil},
		"with words":        {"t\nask Bob\n", "", host.AnswerDeny, "ask Bob", nil},
		"broken off":        {"y\nAnn\n", "", "", "", io.EOF},
		"not confirmed":     {all, "", "", "", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, out := printer(0, false)
			reply, err := NewAsker(p, typed(t, test.in)).Ask(t.Context(), formQuestion("What is it called?"))
			if reply.Answer != test.answer || string(reply.Content) != test.content || reply.Message != test.message || !errors.Is(err, test.err) {
				t.Errorf("got %s %s %q, %v\n%s", reply.Answer, reply.Content, reply.Message, err, out)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("an escape sequence reached the terminal: %q", out)
			}
		})
	}
}

// TestRequestsAreShown holds what a person sees: who asks, and that it is not Toolquay.
func TestRequestsAreShown(t *testing.T) {
	t.Parallel()
	const form = `? Deploy asks you to fill in a form.
  | What is it\x1b called?
  fields   Your name, size, tags, count, sure, mail
  What you fill in goes to this tool, which is not Toolquay. Give it no password.
  tool     Deploy (plugin ops): staging
  from     reviewer
  in       /ws/proj
  [y and Enter] fill it in
  [n and Enter] no
  [t and Enter] no, and tell the tool why
  fill it in
  1. Your name  text
  | As on the \x1b[2Jdoor
  >   2. size  one number or value; Enter takes Large
   1  Small
   2  Large
  >   3. tags  numbers or values, with commas; Enter leaves it out
   1  a
   2  b
   3  c
  >   4. count  a whole number; Enter takes 3
  >   5. sure  y or n; Enter leaves it out
  >   6. mail  an email address; Enter leaves it out
  >   1. Your name: Ann
  2. size: Large
  3. tags: nothing
  4. count: 3
  5. sure: nothing
  6. mail: nothing
  [y and Enter] send this
  [a and Enter] fill it in again
  [n and Enter] no, send nothing
  send this
`
	long := "https://login.example.com/" + strings.Repeat("a/", 60) + "?state=1"
	url := `? mcp__hub__deploy asks you to open a URL.
  | Sign in\x1b[2J first.
  host     login.example.com
  ` + long + `
  Toolquay does not open it. Copy it into a browser if you trust the tool and the host.
  tool     mcp__hub__deploy (MCP server hub)
  in       /ws/proj
  [y and Enter] yes, I open it
  [n and Enter] no
  [t and Enter] no, and tell the tool why
  yes, I open it
`
	for name, test := range map[string]struct {
		question  host.Question
		in, shown string
	}{
		"a form": {formQuestion("What is it\x1b called?"), "y\nAnn\n\n\n\n\n\ny\n", form},
		"a URL":  {urlQuestion(long), "y\n", url},
	} {
		p, out := printer(0, false)
		if reply, err := NewAsker(p, typed(t, test.in)).Ask(t.Context(), test.question); err != nil || reply.Answer != host.AnswerAllow {
			t.Fatalf("%s: %+v, %v", name, reply, err)
		}
		if got := out.String(); got != test.shown {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.shown)
		}
	}
	narrow, out := printer(30, false)
	if _, err := NewAsker(narrow, typed(t, "n\n")).Ask(t.Context(), urlQuestion("http://example.com:8080/"+strings.Repeat("x", 80))); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "  host     example.com:8080,") || !strings.Contains(got, "http://example.com:8080/"+strings.Repeat("x", 80)+"\n") {
		t.Errorf("the URL is not in one piece:\n%s", got)
	}
}

// TestLongRequests shows all of a long message before there is a yes.
func TestLongRequests(t *testing.T) {
	t.Parallel()
	p, out := printer(0, false)
	q := formQuestion(strings.Repeat("words ", 1000) + "the end")
	reply, err := NewAsker(p, typed(t, "y\nv\ny\nAnn\n\n\n\n\n\ny\n")).Ask(t.Context(), q)
	if err != nil || reply.Answer != host.AnswerAllow || !strings.Contains(out.String(), "the end") || !strings.Contains(out.String(), "2000 of 6007 characters are shown") {
		t.Errorf("%+v, %v\n%s", reply, err, out)
	}
	p, all := printer(0, false)
	if err := ShowRequest(p, q); err != nil || !strings.Contains(all.String(), "the end") {
		t.Errorf("%v\n%s", err, all)
	}
}

// TestOtherKinds of question are not asked.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	p, out := printer(0, false)
	a := NewAsker(p, typed(t, "y\n"))
	if _, err := a.Ask(t.Context(), host.Question{Kind: "riddle"}); !errors.Is(err, host.ErrNobody) || a.Carries("riddle") || !a.Carries(host.QuestionPlan) || out.Len() > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := a.Ask(t.Context(), host.Question{Kind: host.QuestionForm, Ask: host.Ask{Form: &host.Form{Schema: json.RawMessage(`{}`)}}}); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Error(err)
	}
}

// TestLineOfAQuestion shows what a tool says of its call behind the tool's name and its
// plugin's, and nothing of it as the host's own words.
func TestLineOfAQuestion(t *testing.T) {
	t.Parallel()
	show := func(q host.Approval) string {
		var out strings.Builder
		ShowApproval(&Printer{w: &out, screen: &screen{w: &out}}, q)
		return out.String()
	}
	q := host.Approval{Tool: "CsvQuery", Plugin: "csv", Title: "people.csv", Line: "people.csv, by -age", Input: json.RawMessage(`{"file_path":"people.csv"}`)}
	if got := show(q); !strings.Contains(got, "? Use CsvQuery?\n") || !strings.Contains(got, "tool     CsvQuery (plugin csv): people.csv, by -age\n") {
		t.Errorf("the question is\n%s", got)
	}
	q.Line = "" // of a record of an earlier version
	if got := show(q); !strings.Contains(got, "tool     CsvQuery (plugin csv): people.csv\n") {
		t.Errorf("the question of an earlier version is\n%s", got)
	}
}
