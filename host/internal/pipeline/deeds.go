package pipeline

import (
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/internal/tool"
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

// effected are what the call did, reads left out. Of a native tool that ran it is
// what its input names, too: nobody sees what it does by itself.
func (c *Call) effected() []permissions.Access {
	if _, native := c.tool.(*tool.Native); native && c.ran() {
		c.deeds.add(c.admitted.to.Accesses)
	}
	c.deeds.mu.Lock()
	defer c.deeds.mu.Unlock()
	return slices.Clone(c.deeds.done)
}
