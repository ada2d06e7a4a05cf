package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// poolRows say what many tools cost.
func poolRows() []row {
	return []row{
		{
			name: "ToolSearch over 1,000 tools", ours: search(1000),
			baseline: "over 100", theirs: search(100),
			compare: ratio, limit: "at most 15x",
		},
		{
			name: "what models are told of 1,000 tools", ours: definitions(1000),
			baseline: "of 100", theirs: definitions(100),
			compare: ratio, limit: "at most 15x",
		},
	}
}

// pool are so many tools, each with much to say.
func pool(n int) host.Options {
	o := host.Options{Builtins: true}
	for i := range n {
		t := nothing(fmt.Sprintf("Tool%dDoesThing%d", i, i%20))
		t.Contract.Description = strings.Repeat("Does one of many things. ", 20)
		t.Contract.Defer = true
		o.Tools = append(o.Tools, t)
	}
	return o
}

// search looks for a tool among others, and for words that many of them have.
func search(tools int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, end := l.session(b, pool(tools))
		defer end()
		calls := []abi.ToolUse{{ID: "1", Name: "ToolSearch", Input: json.RawMessage(`{"query":"+thing7 does many things"}`)}}
		s.Results(context.Background(), calls) // loads the guest
		runTurns(b, s, calls)
	}
}

func definitions(tools int) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		s, end := l.session(b, pool(tools))
		defer end()
		for b.Loop() {
			if _, err := s.Definitions(host.FormatAnthropic); err != nil {
				b.Fatal(err)
			}
		}
	}
}
