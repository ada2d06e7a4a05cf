package main

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// TestCallLog has a call's log shown as it comes, or where the call failed, or not at all.
func TestCallLog(t *testing.T) {
	t.Parallel()
	events := []host.Event{
		{Kind: host.EventLog, Log: &abi.Log{Level: "warn", Message: "one"}},
		{Kind: host.EventProgress, Progress: &host.Progress{Progress: abi.Progress{Message: "half"}}},
		{Kind: host.EventProgress, Progress: &host.Progress{}},
	}
	for name, tt := range map[string]struct {
		verbose, failed bool
		want            string
	}{
		"nobody asks": {false, false, ""},
		"a failure":   {false, true, "\nWhat it logged:\n  one\n"},
		"verbose":     {true, true, "warn  one\nprogress  half\n"},
	} {
		got := printed(t, func(a *app) {
			log := &callLog{out: a.err, verbose: tt.verbose}
			for i := range events {
				log.take(&events[i])
			}
			log.printLast(&abi.ToolResult{IsError: tt.failed})
		})
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
