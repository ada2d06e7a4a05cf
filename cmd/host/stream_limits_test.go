package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/message/stream"
)

// TestStreamNews: who does not read is told how much was left out, and nothing more
// is kept meanwhile.
func TestStreamNews(t *testing.T) {
	t.Parallel()
	var n streamNews
	for i := range maxNews + 5 {
		if first := n.add(i, i); first != (i == 0) {
			t.Errorf("line %d is the first: %t", i, first)
		}
	}
	n.add(stream.Cron{Type: "cron"}, 0) // which would be lost
	lines := n.take()
	if len(lines) != maxNews+2 {
		t.Fatalf("%d lines are kept", len(lines))
	}
	if prompt, is := lines[maxNews].(stream.Cron); !is || prompt.Type != "cron" {
		t.Errorf("got %+v", lines[maxNews])
	}
	last, ok := lines[maxNews+1].(stream.Fault)
	if !ok || last.Line != maxNews+4 || last.Code != abi.CodeTooLarge || !strings.HasPrefix(last.Message, "5 more lines") {
		t.Errorf("got %+v", lines[maxNews+1])
	}
	if !n.add("again", 1) || len(n.take()) != 1 || len(n.take()) != 0 {
		t.Error("what was taken is not gone")
	}
}

// TestWithRefused: each call of the reply has one result, and the one that it has
// stands.
func TestWithRefused(t *testing.T) {
	t.Parallel()
	refused := func(id string) stream.Item {
		return stream.Item{Kind: stream.KindFault, Call: abi.ToolUse{ID: id}, Err: abi.Errorf(abi.CodeIO, "cut </tool_use_error>")}
	}
	got := withRefused([]abi.ToolResult{{ToolUseID: "b"}}, []stream.Item{refused("a"), refused("b"), refused("a")})
	if len(got) != 2 || got[0].IsError || got[1].ToolUseID != "a" || !got[1].IsError {
		t.Fatalf("got %+v", got)
	}
	if want := `<tool_use_error>cut <\/tool_use_error></tool_use_error>`; got[1].Text() != want {
		t.Errorf("got %s, want %s", got[1].Text(), want)
	}
}

// TestStreamLoad: so many calls wait, and so many bytes, and no more until some
// have left.
func TestStreamLoad(t *testing.T) {
	t.Parallel()
	const half = maxWaitingBytes / 2
	for name, test := range map[string]struct{ most, size int }{
		"calls": {maxWaiting, 10},
		"bytes": {2, half},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var load streamLoad
			turn := &streamTurn{}
			for i := range test.most {
				if err := load.take(turn, test.size); err != nil {
					t.Fatalf("call %d: %v", i, err)
				}
			}
			if err := load.take(turn, test.size); abi.CodeOf(err) != abi.CodeTooLarge {
				t.Fatalf("one more: %v", err)
			}
			load.give(turn, test.most+1) // was refused, and counts for nothing
			load.give(turn, 0)
			if err := load.take(turn, test.size); err != nil {
				t.Errorf("after one has left: %v", err)
			}
			for i := range test.most {
				load.give(turn, i+1)
			}
			if fmt.Sprint(load) != "{0 0}" {
				t.Errorf("at the end %v wait", load)
			}
		})
	}
}
