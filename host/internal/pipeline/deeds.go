package pipeline

import (
	"sync"

	"github.com/toolquay/toolquay/permissions"
)

// deeds are what a call did to the world, in order.
type deeds struct {
	mu   sync.Mutex
	done []permissions.Access
}

// add keeps accesses that were made, but for reads.
func (d *deeds) add(accesses []permissions.Access) {
	for _, a := range accesses {
		if a.Kind == permissions.AccessRead {
			continue
		}
		d.mu.Lock()
		d.done = append(d.done, a)
		d.mu.Unlock()
	}
}
