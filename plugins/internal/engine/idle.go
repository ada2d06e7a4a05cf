package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// idleTime is how long instances are kept ready after the last call, at least;
// they are gone after twice that.
const idleTime = 30 * time.Second

// idle counts the memory of instances that are kept ready, over all pools.
type idle struct {
	limit int64
	used  atomic.Int64
	clock atomic.Int64 // counts uses, to tell which pool was used last

	mu    sync.Mutex
	pools map[shrinker]struct{}
}

// shrinker is a pool.
type shrinker interface {
	shrink()
	lastUsed() int64
	idles() bool
}

func (i *idle) join(p shrinker) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pools == nil {
		i.pools = make(map[shrinker]struct{})
	}
	i.pools[p] = struct{}{}
}

func (i *idle) leave(p shrinker) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.pools, p)
}

// keep counts memory in, unless there is no room for it even after the pool that
// was not used for longest gave back what it has.
func (i *idle) keep(size int64) bool {
	if i.used.Add(size) <= i.limit {
		return true
	}
	if oldest := i.oldest(); oldest != nil {
		oldest.shrink()
	}
	if i.used.Load() <= i.limit {
		return true
	}
	i.used.Add(-size)
	return false
}

func (i *idle) oldest() (oldest shrinker) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for p := range i.pools {
		if p.idles() && (oldest == nil || p.lastUsed() < oldest.lastUsed()) {
			oldest = p
		}
	}
	return oldest
}

func (i *idle) release(size int64) { i.used.Add(-size) }
