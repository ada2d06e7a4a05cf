package abi_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func TestToolResultText(t *testing.T) {
	t.Parallel()
	r := abi.ToolResult{Content: []abi.Block{
		abi.TextBlock("a"), {Type: abi.BlockImage, MediaType: "image/png"}, abi.TextBlock("b"),
	}}
	if got := r.Text(); got != "a\nb" {
		t.Errorf("%q", got)
	}
	failed := abi.ErrorResult("id", abi.Errorf(abi.CodeNotFound, "no such file"))
	if failed.ToolUseID != "id" || !failed.IsError || failed.Text() != "no such file" || failed.Error.Code != abi.CodeNotFound {
		t.Errorf("%+v", failed)
	}
}

func TestTraitReadsBooleans(t *testing.T) {
	t.Parallel()
	for in, want := range map[bool]abi.Trait{true: abi.TraitTrue, false: abi.TraitFalse} {
		var got abi.Trait
		if err := got.UnmarshalBool(in); err != nil || got != want {
			t.Errorf("%v: %q, %v", in, got, err)
		}
	}
}

func TestAnswerReaderLeft(t *testing.T) {
	t.Parallel()
	answer := func(size int64) abi.Answer {
		return abi.Answer{Body: io.NopCloser(strings.NewReader("body")), Size: size}
	}
	r := abi.NewAnswerReader(answer(4), nil)
	if r.Left() != r.Size() {
		t.Errorf("%d left of %d", r.Left(), r.Size())
	}
	if err := r.SkipHead(); err != nil || r.Left() != 4 || r.Buffered() != 0 {
		t.Errorf("%v, %d left", err, r.Left())
	}
	if b, err := io.ReadAll(r); string(b) != "body" || err != nil || r.Left() != 0 {
		t.Errorf("%q, %v, %d left", b, err, r.Left())
	}
	if r := abi.NewAnswerReader(answer(-1), nil); r.Left() != -1 {
		t.Errorf("%d left of a body of unknown size", r.Left())
	}
	refusal := abi.Errorf(abi.CodeDenied, "no")
	if err := abi.NewAnswerReader(answer(4), refusal).SkipHead(); !errors.Is(err, refusal) {
		t.Errorf("%v, want the refusal", err)
	}
}

// Keys that would break a path or a message are quoted and cut.
func TestFaultShowsOddKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1000)
	for in, want := range map[string]string{
		`{"a b":!}`:                   `["a b"]`,
		`{"":!}`:                      `[""]`,
		`{"\u001b[31m":!}`:            `["\x1b[31m"]`,
		`{"a\"b":{"c.d":[0,!]}}`:      `["a\"b"]["c.d"][1]`,
		`{"` + long + `":!}`:          `["` + strings.Repeat("ä", 32) + `"...]`,
		`{"é":1,"\u00e9":2}`:          `["é"]`,
		"{\"a\\n\":1,\"a\\u000a\":2}": `["a\n"]`,
	} {
		_, err := abi.Canonical([]byte(in))
		fault, ok := errors.AsType[*abi.JSONFault](err)
		if !ok || fault.Path != want {
			t.Errorf("%.40s: %+v, want %s", in, fault, want)
		}
	}
	deep := strings.Repeat(`{"`+strings.Repeat("k", 60)+`":`, 100) + "!"
	if _, err := abi.Canonical([]byte(deep)); err == nil || len(err.Error()) > 400 {
		t.Errorf("%v", err)
	}
}

// TestToolsWithoutLines keeps the definition of a tool that has none as it was before there were
// any: approvals and grants are bound to it.
func TestToolsWithoutLines(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(abi.Tool{Name: "Show"})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"Lines", "Renders", "ClassifierText"} {
		if strings.Contains(string(text), key) {
			t.Errorf("%s is in %s", key, text)
		}
	}
	all := abi.Lines{Queued: "q", Use: "u", Progress: "p", Result: "r", Rejection: "j", Error: "e"}
	if got := (abi.Lines{Use: "mine"}).Or(all); got != (abi.Lines{Queued: "q", Use: "mine", Progress: "p", Result: "r", Rejection: "j", Error: "e"}) {
		t.Errorf("got %+v", got)
	}
	for _, kind := range abi.LineKinds {
		if all.Line(kind) == "" {
			t.Errorf("Line(%q) leads to no field", kind)
		}
	}
}
