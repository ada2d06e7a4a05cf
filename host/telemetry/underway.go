package telemetry

import (
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host"
)

// underway holds the turns and calls that have not ended. It is safe for concurrent use.
type underway struct {
	mu    sync.Mutex
	turns map[string]*turn   // by id
	calls map[string][]*call // by id, which several may share
	begun uint64             // how many turns have begun
}

// turn returns the turn of an event, or nil if it is over. If the event can be the first of
// its turn, the turn is added, and begin is called before others can use it; lost is then
// the turn that was taken out to make room, if any.
func (u *underway) turn(e *host.Event, begin func(t *turn, above *call)) (t, lost *turn) {
	u.mu.Lock()
	t = u.turns[e.Turn]
	if t != nil || e.Turn == "" || e.Kind != host.EventTurn && e.Kind != host.EventQueued {
		u.mu.Unlock()
		return t, nil
	}
	lost = u.makeRoom()
	u.begun++
	t = &turn{place: u.begun, calls: make(map[int]*call)}
	t.mu.Lock() // before others find it
	u.turns[e.Turn] = t
	above := u.caller(e)
	u.mu.Unlock()
	begin(t, above)
	t.mu.Unlock()
	return t, lost
}

// makeRoom takes out the oldest turn where there are too many, and returns it. The
// caller holds the mutex.
func (u *underway) makeRoom() *turn {
	if len(u.turns) < maxTurns {
		return nil
	}
	var id string
	var oldest *turn
	for i, t := range u.turns {
		if oldest == nil || t.place < oldest.place {
			id, oldest = i, t
		}
	}
	delete(u.turns, id)
	return oldest
}

// caller finds the call that made the calls of an event's turn. Ids are a model's,
// and unique in a turn only: the chain, the depth and the session tell which is meant. The
// caller holds the mutex.
func (u *underway) caller(e *host.Event) *call {
	if e.Parent == "" {
		return nil
	}
	var found []*call
	for _, c := range u.calls[e.Parent] {
		switch {
		case c.depth != e.Depth-1 || c.chain != e.Chain:
		case c.session == e.Session:
			return c
		default:
			found = append(found, c)
		}
	}
	if len(found) == 1 { // an agent's session, of which the call is in another
		return found[0]
	}
	return nil
}

// take takes out a turn, which is nil if there is none.
func (u *underway) take(id string) *turn {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.turns[id]
	delete(u.turns, id)
	return t
}

// takeAll takes out all turns.
func (u *underway) takeAll() map[string]*turn {
	u.mu.Lock()
	defer u.mu.Unlock()
	turns := u.turns
	u.turns = make(map[string]*turn)
	return turns
}

// add remembers a call.
func (u *underway) add(t *turn, place int, c *call) {
	t.calls[place] = c
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls[c.id] = append(u.calls[c.id], c)
}

// forget is the opposite of add.
func (u *underway) forget(t *turn, place int, c *call) {
	delete(t.calls, place)
	u.mu.Lock()
	defer u.mu.Unlock()
	left := slices.DeleteFunc(u.calls[c.id], func(other *call) bool { return other == c })
	if u.calls[c.id] = left; len(left) == 0 {
		delete(u.calls, c.id)
	}
}
