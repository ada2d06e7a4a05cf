package stream

import (
	"testing"
	"time"

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
