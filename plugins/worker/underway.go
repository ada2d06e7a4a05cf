package worker

import (
	"sync"
	"time"
)

// underway are the calls in a worker, and the sessions that it keeps something for.
type underway struct {
	mu       sync.Mutex
	over     bool // no call begins any more
	calls    map[uint32]*call
	last     uint32                   // the number given last
	endings  map[uint32]chan struct{} // sessions that are being ended
	sessions int                      // that keep something here
	used     time.Time                // the end of the last call
	timer    *time.Timer
	looking  bool // the timer is set to tick
}

// begin enters a call, unless the worker is gone or about to go.
func (u *underway) begin(c *call) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return false
	}
	u.last++
	c.id = u.last
	putHeader(c.message, kind(c.message[4]), c.message[5], c.id, 0)
	u.calls[c.id] = c
	if !u.looking {
		u.looking = true
		u.timer.Reset(tick)
	}
	return true
}

// find returns a call, nil where none has the number.
func (u *underway) find(id uint32) *call {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls[id]
}

func (u *underway) forget(c *call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.calls, c.id)
	if len(u.calls) == 0 {
		u.used = time.Now()
	}
}

// gone reports whether the worker has ended.
func (u *underway) gone() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.over
}

// count counts sessions in, or out.
func (u *underway) count(sessions int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sessions += sessions
}

// ending numbers the end of a session. ended is closed when the session has ended or the
// worker is gone. If the number is 0 the worker is gone already, and ended is closed.
func (u *underway) ending(ended chan struct{}) (number uint32) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		close(ended)
		return 0
	}
	u.last++
	u.endings[u.last] = ended
	return u.last
}

// sessionEnded notes that the worker ended what it kept for a session.
func (u *underway) sessionEnded(number uint32) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	ended, ok := u.endings[number]
	if !ok {
		return violate("ended a session that nobody asked it to end")
	}
	delete(u.endings, number)
	close(ended)
	return nil
}

// close lets no call begin any more, and returns what is left.
func (u *underway) close() (map[uint32]*call, map[uint32]chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	u.timer.Stop()
	calls, endings := u.calls, u.endings
	u.calls, u.endings = nil, nil
	return calls, endings
}
