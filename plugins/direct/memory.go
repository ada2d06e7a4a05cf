package direct

import (
	"context"
	"sync"

	"github.com/tetratelabs/wazero/experimental"
)

// headroom is what a memory can first grow by without being moved, in bytes:
// allocators in guests ask for their heap a page or two at a time.
const headroom = 2 * pageSize

// maxRecycled is the largest memory that is kept for the next instance, in
// bytes. Clearing a larger one costs more than the collector does.
const maxRecycled = 1 << 20

// memories makes the linear memories of one plugin's instances. It refuses to
// grow one past its limit, where memory.grow answers -1, as the specification
// has it; wazero's own limit is one for the whole runtime. It uses the memory of
// an instance that has ended for a later one, cleared.
type memories struct {
	limit uint64
	keep  int

	mu   sync.Mutex
	free [][]byte
}

// withMemories returns a context that instantiates with memories of m.
func withMemories(ctx context.Context, m *memories) context.Context {
	return experimental.WithMemoryAllocator(ctx, m)
}

// Allocate makes an empty memory; wazero asks for its minimum at once.
func (m *memories) Allocate(_, maximum uint64) experimental.LinearMemory {
	return &linear{owner: m, limit: min(m.limit, maximum)}
}

// take returns a cleared buffer for size bytes with some room to grow.
func (m *memories) take(size, limit uint64) []byte {
	m.mu.Lock()
	n := len(m.free)
	if n == 0 || uint64(cap(m.free[n-1])) < size {
		m.mu.Unlock()
		return make([]byte, size, min(size+headroom, limit))
	}
	buf := m.free[n-1]
	m.free[n-1] = nil
	m.free = m.free[:n-1]
	m.mu.Unlock()
	clear(buf) // all that its last user had; the rest was never used
	return buf[:size]
}

func (m *memories) put(buf []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cap(buf) <= maxRecycled && len(m.free) < m.keep {
		m.free = append(m.free, buf)
	}
}

// drop gives back what is kept.
func (m *memories) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = nil
}

// linear is one memory. Its bytes from the length to the capacity are zero.
type linear struct {
	owner *memories
	buf   []byte
	limit uint64
}

// Reallocate grows the memory, or returns nil where the limit forbids it. Where
// it has to move the memory it makes room for twice the size, so that a guest
// that grows page by page copies each byte a bounded number of times.
func (l *linear) Reallocate(size uint64) []byte {
	switch {
	case size > l.limit:
		return nil
	case l.buf == nil:
		l.buf = l.owner.take(size, l.limit)
	case size <= uint64(cap(l.buf)):
		l.buf = l.buf[:size]
	default:
		grown := make([]byte, size, min(max(size, 2*uint64(len(l.buf))), l.limit))
		copy(grown, l.buf)
		l.buf = grown
	}
	return l.buf
}

// Free hands the memory on. wazero calls it when the instance is closed, which
// is after its last call has returned: nobody holds a view of it any more.
func (l *linear) Free() {
	if l.buf != nil {
		l.owner.put(l.buf)
		l.buf = nil
	}
}
