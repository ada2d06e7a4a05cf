package pipeline

import (
	"sync"

	"github.com/toolquay/toolquay/permissions"
)

// effects are what a call did to the world, in order.
type effects struct {
	mu   sync.Mutex
	list []permissions.Access
}

// add keeps accesses that were made, except reads.
func (e *effects) add(accesses []permissions.Access) {
	for _, a := range accesses {
		if a.Kind == permissions.AccessRead {
			continue
		}
		e.mu.Lock()
		e.list = append(e.list, a)
		e.mu.Unlock()
	}
}
