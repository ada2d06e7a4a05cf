package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
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
