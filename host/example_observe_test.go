package host_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// An observer is told of every call, of all sessions. It hands events on, so that no
// call waits for what is done with them.
func ExampleOptions_observe() {
	ctx := context.Background()
	events := make(chan host.Event, 1000)
	greet := host.NewTool(abi.Tool{Name: "Greet", Summary: "Greets somebody", InputSchema: `{"type":"object"}`},
		func(context.Context, struct{}) (string, error) { return "Hello", nil })
	h, err := host.Open(ctx, host.Options{
		Tools:       []host.NativeTool{greet},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Greet")}}},
		Observe: host.ObserveOptions{Events: func(e host.Event) {
			select {
			case events <- e:
			default: // rather lose one than have calls wait
			}
		}},
	})
	if err != nil {
		log.Panic(err)
	}
	defer h.Close(ctx)
	s, err := h.NewSession(host.SessionOptions{Cwd: os.TempDir()})
	if err != nil {
		log.Panic(err)
	}
	s.Results(ctx, []abi.ToolUse{{ID: "call_1", Name: "Greet"}})

	close(events) // the turn has ended, and with it its events
	for e := range events {
		switch e.Kind {
		case host.EventDecided:
			fmt.Println(e.Kind, e.Tool, e.Decision.Verdict)
		case host.EventStarted, host.EventFinished:
			fmt.Println(e.Kind, e.CallID)
		case host.EventTurn, host.EventTurnEnded:
			fmt.Println(e.Kind)
		}
	}
	// Output:
	// turn
	// decided Greet allow
	// started call_1
	// finished call_1
	// turn_ended
}
