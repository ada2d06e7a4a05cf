package servers

import (
	"runtime"
	"sync"
	"time"

	"github.com/toolquay/toolquay/host"
)

const (
	// launchAfter is how long a program is not started that nobody waits for: until then the host
	// has given its first answer, which programs that start would delay.
	launchAfter = 100 * time.Millisecond
	// launchTime is the longest that the start of one program keeps others waiting.
	launchTime = time.Second
)

// launches are the programs that start for the first time: as many at once as there are processors, so that the
// host answers meanwhile.
type launches chan struct{}

func newLaunches() launches { return make(launches, runtime.GOMAXPROCS(0)) }

// awaitLaunch says that the server is pending, and waits until the program of a server may be started for the first time, and returns
// what to call when it has. A server that somebody waits for is not kept waiting.
func (s *server) awaitLaunch() (launched func()) {
	if len(s.config.Command) == 0 {
		s.provide(host.Provided{Pending: []string{s.config.Name}})
		return func() {}
	}
	timer := time.NewTimer(launchAfter)
	defer timer.Stop()
	var slots launches
	for {
		select {
		case <-timer.C:
			s.provide(host.Provided{Pending: []string{s.config.Name}})
			slots = s.set.launches
		case slots <- struct{}{}:
			launched = sync.OnceFunc(func() { <-slots })
			time.AfterFunc(launchTime, launched)
			return launched
		case <-s.wanted:
			return func() {}
		case <-s.ctx.Done():
			return func() {}
		}
	}
}

// want has a server start, or connect again, at once.
func (s *server) want() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}
