package engine

import (
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const pageSize = 64 << 10

// headroom is what a memory can first grow by without being moved, in bytes,
// where no address space is reserved for it: allocators in guests ask for their
// heap a page or two at a time.
const headroom = 2 * pageSize

// maxRecycled is the largest memory that is kept for the next instance, in
// bytes. Clearing a larger one costs more than a new one does.
const maxRecycled = 1 << 20

// memories makes the linear memories of one part of a pool's instances. It
// refuses to grow one past its limit, where memory.grow answers -1, as the
// specification has it; wazero's own limit is one for the whole runtime. It uses
// the memory of an instance that has ended for a later one, cleared.
//
// Where the system can reserve address space without memory behind it, a memory
// never moves, so that growing by a gigabyte copies nothing. Elsewhere memories
// are slices.
type memories struct {
	limit uint64
	keep  int

	mu   sync.Mutex
	free []region
}

// slot allocates the one memory of an instance's part.
type slot struct {
	owner  *memories
	linear *linear // nil while there is none
}

// region is what is behind a memory: room of a fixed size, of which the first
// bytes can be used.
type region struct {
	room []byte // its length is the address space
	// usable is how many bytes can be used, which are zero unless they were
	// handed out.
	usable uint64
	// mapped says that a snapshot is mapped over the beginning.
	mapped bool
	// own is how much of what is mapped was once written to and is the instance's
	// own, in bytes, as of the last time that it was put back.
	own int
	// stale adds up how much of it was compared for nothing, since it was last let
	// go of.
	stale int
	// reserved says that the room is address space of its own.
	reserved bool
}

// Allocate makes an empty memory; wazero asks for its minimum at once.
func (s *slot) Allocate(_, maximum uint64) experimental.LinearMemory {
	limit := min(s.owner.limit, maximum)
	s.linear = &linear{owner: s.owner, limit: limit, region: s.owner.take(limit)}
	return s.linear
}

func (m *memories) take(size uint64) region {
	if r, ok := m.kept(size); ok {
		return r
	}
	return reserve(size)
}

func (m *memories) kept(size uint64) (region, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.free) - 1
	if n < 0 || uint64(len(m.free[n].room)) != size {
		return region{}, false
	}
	r := m.free[n]
	m.free = m.free[:n]
	return r, true
}

// close gives back what is kept, and has nothing kept any more.
func (m *memories) close() {
	m.mu.Lock()
	m.keep = 0
	m.mu.Unlock()
	m.drop()
}

// drop gives back what is kept.
func (m *memories) drop() {
	m.mu.Lock()
	free := m.free
	m.free = nil
	m.mu.Unlock()
	for i := range free {
		free[i].release()
	}
}

// recycle keeps a region for a later memory, cleared, or reports that it is to
// be released.
func (m *memories) recycle(r region, used []byte) bool {
	if !r.reserved || r.mapped || len(used) > maxRecycled {
		return false
	}
	m.mu.Lock()
	full := len(m.free) >= m.keep
	m.mu.Unlock()
	if full {
		return false
	}
	wipe(used) // all that its user had; the rest was never used
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.free) >= m.keep {
		return false
	}
	m.free = append(m.free, r)
	return true
}

// linear is one memory. Its bytes from the length to the limit are zero.
type linear struct {
	owner *memories
	limit uint64
	region
	buf []byte // what the guest sees
	// high is where memory ends that was once grown into and is still there.
	high int
	// shrink, where it is above zero, is the size to answer the next
	// Reallocate with, whatever it asks for.
	shrink uint64
}

// Reallocate grows the memory, or returns nil where the limit or the system
// forbids it.
func (l *linear) Reallocate(size uint64) []byte {
	switch {
	case l.shrink > 0:
		l.buf, l.shrink = l.buf[:l.shrink], 0
		return l.buf
	case size > l.limit:
		return nil
	case !l.reserved:
		l.buf = enlarge(l.buf, size, l.limit)
		return l.buf
	case size > l.usable && !l.extend(size):
		return nil
	}
	l.buf = l.room[:size]
	return l.buf
}

// maxCleared is how much of what a memory grew by is cleared to be used again,
// in bytes: finding memory anew costs the next call many times as much. More is
// given back to the system, so that a memory that grew a lot and was hardly
// touched does not cost what it grew by.
const maxCleared = 2 << 20

// maxTaken is the most that a memory may have grown by to be used again, in
// bytes. One that grew more goes as a whole, with what the system keeps for it.
const maxTaken = 8 << 20

// truncate takes back what a memory grew by, or reports that it is to be thrown
// away. There is no way to tell the engine to; but when it asks for one page more
// it goes by what it is given.
func (l *linear) truncate(mem api.Memory, size int) bool {
	switch tail := l.buf[size:]; {
	case len(tail) > maxTaken:
		return false
	case len(tail) <= maxCleared:
		wipe(tail)
		l.high = max(l.high, len(l.buf))
	case l.discard(tail):
		if l.high <= len(l.buf) {
			l.high = 0
		}
	default:
		return false
	}
	l.shrink = uint64(size)
	_, ok := mem.Grow(1)
	l.shrink = 0
	return ok && int(mem.Size()) == size
}

// enlarge grows a memory that is a slice. Where it has to move it makes room for
// twice the size, so that a guest that grows page by page copies each byte a
// bounded number of times.
func enlarge(buf []byte, size, limit uint64) []byte {
	if buf == nil {
		return make([]byte, size, min(size+headroom, limit))
	}
	if size <= uint64(cap(buf)) {
		return buf[:size]
	}
	grown := make([]byte, size, min(max(size, 2*uint64(len(buf))), limit))
	transfer(grown, buf)
	return grown
}

// Free hands the memory on. wazero calls it when the instance is closed, which
// is after its last call has returned: nobody holds a view of it any more.
func (l *linear) Free() {
	if l.room != nil && !l.owner.recycle(l.region, l.buf) {
		l.release()
	}
	l.region, l.buf, l.high = region{}, nil, 0
}
