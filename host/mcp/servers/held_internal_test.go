package servers

import (
	"testing"
	"time"
)

// TestHeldConnection takes no connection out of use for a rest that a call has got and not yet
// used, however late that call is, nor one that was used since it was last asked.
func TestHeldConnection(t *testing.T) {
	t.Parallel()
	live := &connection{broken: make(chan struct{})}
	s := &server{config: Config{StartTimeout: time.Minute}, live: live, changed: make(chan struct{})}
	live.server = s
	c, err := s.connection(t.Context())
	if c != live || err != nil {
		t.Fatal(c, err)
	}
	for range 3 {
		if s.rests(live) {
			t.Fatal("a connection that is held rests")
		}
	}
	c.release()
	if s.rests(live) {
		t.Error("a connection that was just used rests")
	}
	if !s.rests(live) || s.live != nil {
		t.Error("a connection that nobody uses does not rest")
	}
	s.live = live
	live.fail(errEnded)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold() != nil {
		t.Error("a connection that is broken is held")
	}
}
