package serve

import (
	"sync"
	"time"
)

// tellEvery is how often the same thing is logged that clients can bring about.
const tellEvery = time.Second

// sometimes does something at most once a second, for logs that clients could fill.
type sometimes struct {
	mu   sync.Mutex
	last time.Time
	more int
}

// do calls tell, with how often it was not called since the last time, or leaves it.
func (s *sometimes) do(tell func(more int)) {
	s.mu.Lock()
	if now := time.Now(); now.Sub(s.last) >= tellEvery {
		s.last = now
	} else {
		s.more++
		s.mu.Unlock()
		return
	}
	more := s.more
	s.more = 0
	s.mu.Unlock()
	tell(more)
}
