package message_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// results has one of everything that a reply must carry.
func results() []abi.ToolResult {
	return []abi.ToolResult{
		{
			ToolUseID: "t1",
			Content:   []abi.Block{abi.TextBlock("<b>& text"), abi.TextBlock(""), {Type: abi.BlockImage, MediaType: "image/png", Data: []byte("\x89PNG")}},
			Messages:  []abi.Message{{Role: "user", Text: "a note"}, {Role: "assistant", Text: "understood"}},
		},
		{
			ToolUseID: "t2",
			Content: []abi.Block{
				{Type: abi.BlockDocument, MediaType: "application/pdf", Title: "a.pdf", Data: []byte("%PDF")},
				{Type: abi.BlockDocument, MediaType: "text/plain", Data: []byte("plain\xff")},
				{Type: abi.BlockToolReference, ToolName: "Grep"},
			},
			Structured: json.RawMessage(`{"n":1}`),
			Changes:    []abi.Change{{Kind: abi.ChangeCwd, Value: json.RawMessage(`"/x"`)}},
			Meta:       json.RawMessage(`{"m":true}`),
		},
		abi.ErrorResult("t3", abi.Errorf(abi.CodeDenied, "no")),
		{ToolUseID: "unnamed_4", Content: []abi.Block{abi.TextBlock("own word")}, IsError: true},
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, format := range message.Formats() {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			calls := []abi.ToolUse{{ID: "t1", Name: "Read"}, {ID: "t2", Name: "Other"}, {ID: "t3", Name: "A"}, {ID: "unnamed_4", Name: "B"}}
			got, err := message.Reply(format, calls, results())
			if err != nil {
				t.Fatal(err)
			}
			pretty := got
			if format != message.List {
				var b bytes.Buffer
				if err := json.Indent(&b, got, "", "  "); err != nil {
					t.Fatal(err)
				}
				pretty = append(b.Bytes(), '\n')
			}
			file := filepath.Join("testdata", string(format)+".golden")
			if *update {
				if err := os.WriteFile(file, pretty, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(pretty, want) {
				t.Errorf("%s: got\n%s\nwant\n%s", file, pretty, want)
			}
		})
	}
	if _, err := message.Reply("xml", nil, nil); err == nil {
		t.Error("a reply in an unknown format")
	}
}

func TestReplyToNothing(t *testing.T) {
	t.Parallel()
	for format, want := range map[message.Format]string{
		message.Anthropic: `{"role":"user","content":[]}`, message.OpenAI: `[]`, message.Responses: `[]`,
		message.Gemini: `{"role":"user","parts":[]}`, message.List: ``,
	} {
		if got, err := message.Reply(format, nil, nil); err != nil || string(got) != want {
			t.Errorf("%s: got %s and %v, want %s", format, got, err, want)
		}
	}
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	result := abi.ErrorResult("t1", abi.Errorf(abi.CodeNotFound, "gone"))
	var r message.Recorder
	for i, kind := range []host.EventKind{host.EventQueued, host.EventStarted, host.EventProgress, host.EventFinished} {
		if rec, ok := r.Add(host.Event{Kind: kind, Time: start.Add(time.Duration(i) * time.Second)}); ok {
			t.Fatalf("%s gave the record %+v", kind, rec)
		}
	}
	// Another call's events are none of its business.
	r.Add(host.Event{Kind: host.EventQueued, Index: 1, Time: start.Add(time.Hour)})
	rec, ok := r.Add(host.Event{Kind: host.EventResult, Tool: "Read", Result: &result})
	if !ok || rec.ToolUseID != "t1" || rec.Tool != "Read" || rec.Code != abi.CodeNotFound || !rec.IsError {
		t.Fatalf("got %+v, %t", rec, ok)
	}
	if !rec.Queued.Equal(start) || !rec.Started.Equal(start.Add(time.Second)) || !rec.Ended.Equal(start.Add(3*time.Second)) {
		t.Errorf("times: %v, %v, %v", rec.Queued, rec.Started, rec.Ended)
	}
}
