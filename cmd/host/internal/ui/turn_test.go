package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// script is a turn in the making: it tells events to whoever takes them.
type script struct {
	tell func(host.Event)
	n    int
}

// use is one call of a script.
type use struct {
	s *script
	e host.Event
}

// contracts are the tools of scripts.
func contracts(name string) *abi.Tool {
	switch name {
	case "Read":
		return &abi.Tool{Name: name, Activity: "read"}
	case "Glob", "Grep":
		return &abi.Tool{Name: name, Activity: "search"}
	case "Edit":
		return &abi.Tool{Name: name, Interrupt: abi.InterruptBlock}
	case "mcp__web__fetch":
		return &abi.Tool{Name: name, Display: "Fetch"}
	}
	return nil
}

func (s *script) queue(tool, title string) *use {
	u := &use{s: s, e: host.Event{CallID: fmt.Sprintf("c%d", s.n), Index: s.n, Tool: tool, Title: title}}
	s.n++
	u.is(host.EventQueued)
	return u
}

// makes queues a call that a call makes.
func (u *use) makes(tool, title string) *use {
	in := &use{s: u.s, e: host.Event{
		CallID: fmt.Sprintf("n%d", u.s.n), Index: 0, Caller: host.Caller{Parent: u.e.CallID, Depth: u.e.Depth + 1}, Tool: tool, Title: title,
	}}
	u.s.n++
	in.is(host.EventQueued)
	return in
}

func (u *use) with(kind host.EventKind, change func(*host.Event)) *use {
	e := u.e
	e.Kind = kind
	if change != nil {
		change(&e)
	}
	u.s.tell(e)
	return u
}

func (u *use) is(kind host.EventKind) *use { return u.with(kind, nil) }

func (u *use) starts() *use { return u.is(host.EventStarted) }

func (u *use) reports(p host.Progress) *use {
	return u.with(host.EventProgress, func(e *host.Event) { e.Progress = &p })
}

func (u *use) ends(elapsed time.Duration, r abi.ToolResult) *use {
	return u.with(host.EventFinished, func(e *host.Event) { e.Elapsed, e.Result = elapsed, &r })
}

// answers ends a call well, with some bytes of text.
func (u *use) answers(elapsed time.Duration, size int) *use {
	return u.ends(elapsed, abi.ToolResult{Content: []abi.Block{abi.TextBlock(strings.Repeat("x", size))}})
}

func (u *use) fails(elapsed time.Duration, code abi.Code, message string) *use {
	return u.ends(elapsed, abi.ErrorResult(u.e.CallID, abi.Errorf(code, "%s", message)))
}
