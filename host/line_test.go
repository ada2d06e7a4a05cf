package host_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestStreamsKeepTheirOrder: turns that are made faster than they begin, and end while
// others are made, run in the order in which they were made. None that was made later
// holds the session while one before it waits.
func TestStreamsKeepTheirOrder(t *testing.T) {
	const turns, ahead = 500, 3
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{echo("Echo")}}), host.SessionOptions{})
	made := make(chan *host.Stream, ahead)
	go func() {
		defer close(made)
		for i := range turns {
			st := s.Stream(t.Context())
			select {
			case made <- st: // as long as this waits, the stream is open
			case <-t.Context().Done():
			}
			if i%2 == 0 {
				_ = st.Add(use(strconv.Itoa(i), "Echo", `{"s":"x"}`))
			}
			st.Close()
		}
	}()
	read := make(chan int, turns)
	go func() {
		for st := range made {
			n := 0
			for range st.Events() {
				n++
			}
			read <- n
		}
		close(read)
	}()
	for i := range turns {
		select {
		case <-read:
		case <-time.After(testenv.Patience):
			t.Fatalf("turn %d waits for one behind it", i)
		}
	}
}

// TestStreamsPassNobody: a stream that gives up its place lets nobody behind it pass
// those in front.
func TestStreamsPassNobody(t *testing.T) {
	var order ran
	note := does("Note", func(_ context.Context, c *host.Call) (string, error) {
		order.note(c)
		return "", nil
	})
	s := session(t, open(t, host.Options{Tools: []host.NativeTool{note}}), host.SessionOptions{})
	var streams [4]*host.Stream
	var heard [4]*heard
	for i := range streams {
		streams[i] = s.Stream(t.Context())
		heard[i] = listen(t, streams[i].Events())
		must(t, streams[i].Add(use(strconv.Itoa(i), "Note", `{"s":"`+strconv.Itoa(i)+`"}`)))
	}
	streams[2].Interrupt()
	streams[3].Close()
	streams[2].Close()
	heard[2].all()
	streams[0].Close()
	heard[1].await(host.EventResult, "1")
	if events := heard[3].now(); len(events) > 0 {
		t.Errorf("the last began before the second had ended: %v", events)
	}
	streams[1].Close()
	heard[3].all()
	if len(order.inputs) != 3 || order.inputs[1] != `{"s":"1"}` || order.inputs[2] != `{"s":"3"}` {
		t.Errorf("the calls ran as %v", order.inputs)
	}
}
