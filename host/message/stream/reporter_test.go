package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
)

// TestDoneSinceTheFirstEvent: a turn has taken as long as it did, also where its
// events are read late.
func TestDoneSinceTheFirstEvent(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Minute)
	r := NewReporter(1)
	r.Line(host.Event{Kind: host.EventQueued, CallID: "a", Time: began})
	r.Line(host.Event{Kind: host.EventStarted, CallID: "a", Time: began.Add(time.Second)})
	r.Line(host.Event{Kind: host.EventMessage})
	got := time.Duration(r.Done("", false).ElapsedMS) * time.Millisecond
	if got < time.Minute || got > 2*time.Minute {
		t.Errorf("done after %v", got)
	}
}

// TestLogsAreBounded: of a long message the end is cut, between characters.
func TestLogsAreBounded(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", maxLog)
	r := NewReporter(1)
	for message, want := range map[string]string{full: full, full + "x": full + "…", full[1:] + "é": full[1:] + "…"} {
		e := host.Event{Kind: host.EventLog, CallID: "a", Log: &abi.Log{Level: "info", Message: message}}
		r.Logs = false
		if line := r.Line(e); line != nil {
			t.Errorf("nobody asked for logs, and there is %v", line)
		}
		r.Logs = true
		if line, ok := r.Line(e).(Log); !ok || line.Message != want {
			t.Errorf("of %d bytes: got %d, ending in %q", len(message), len(line.Message), line.Message[max(0, len(line.Message)-8):])
		}
	}
}

// TestCallsOfServers: the lines about such a call name the server, and its end has a line of
// its own before its result leaves.
func TestCallsOfServers(t *testing.T) {
	t.Parallel()
	r := NewReporter(1)
	failed := abi.ErrorResult("a", abi.Errorf(abi.CodeIO, "the server is gone"))
	e := host.Event{CallID: "a", Tool: "mcp__x__y", Server: host.ToolServer{Name: "x", Tool: "y"}, Result: &failed}
	line := func(kind host.EventKind) any {
		e.Kind = kind
		return r.Line(e)
	}
	want := OfServer{"x", "y"}
	if started, ok := line(host.EventStarted).(Started); !ok || started.OfServer != want {
		t.Errorf("got %+v", started)
	}
	finished, ok := line(host.EventFinished).(Finished)
	if !ok || finished.Type != "finished" || finished.OfServer != want || finished.Code != abi.CodeIO || finished.State != message.StateFailed ||
		finished.Cause != "the server is gone" {
		t.Errorf("got %+v", finished)
	}
	if result, ok := line(host.EventResult).(Result); !ok || result.OfServer != want {
		t.Errorf("got %+v", result)
	}
	e.Server = host.ToolServer{}
	if got := line(host.EventFinished); got != nil {
		t.Errorf("of no server: %+v", got)
	}
}
