package filestate

import (
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/capability"
)

// maxObservations is how many observations a turn or call keeps.
const maxObservations = 1024

// observation is part of a file that a call's result shows, or the content that a call
// wrote.
type observation struct {
	path, view string
	state      capability.ReadState
	// wrote is true for what is known after a write.
	wrote bool
	// call is the index of the call in its turn.
	call int
}

// observations is a list in the order in which they were made. The zero value is empty.
// It is safe for concurrent use.
type observations struct {
	mu   sync.Mutex
	list []observation
}

// addFirst adds observations. Those beyond [maxObservations] are dropped, and their files
// count as unread.
func (o *observations) addFirst(more ...observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, more[:min(len(more), max(0, maxObservations-len(o.list)))]...)
}

// addLast adds observations, and drops the oldest beyond [maxObservations].
func (o *observations) addLast(more ...observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, more...)
	o.list = slices.Delete(o.list, 0, max(0, len(o.list)-maxObservations))
}

// of appends the observations of a file to a list.
func (o *observations) of(path string, to []observation) []observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.list {
		if o.list[i].path == path {
			to = append(to, o.list[i])
		}
	}
	return to
}

// take returns all observations and empties the list.
func (o *observations) take() []observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}

// drop removes the observations of a file.
func (o *observations) drop(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, func(one observation) bool { return one.path == path })
}
