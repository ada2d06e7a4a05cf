package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is by how much a memory is made usable at least, in bytes, so that one
// that grows page by page does not enter the kernel for each.
const step = 1 << 20

// reserve reserves address space, or nothing where the process may have no more
// of it (RLIMIT_AS).
func reserve(size uint64) region {
	if size == 0 {
		return region{}
	}
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return region{}
	}
	return region{room: unsafe.Slice((*byte)(p), size), reserved: true}
}

// extend makes the beginning usable.
func (r *region) extend(size uint64) bool {
	end := min((size+step-1)/step*step, uint64(len(r.room)))
	if unix.Mprotect(r.room[r.usable:end], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	r.usable = end
	return true
}

// discard clears a part of the region, which begins and ends with a page of the
// guest, by giving it back.
func (r *region) discard(b []byte) bool {
	if !r.reserved {
		wipe(b)
		return true
	}
	return giveBack(b)
}

// givenAtOnce is how much memory is given back at once, in bytes. Meanwhile, for
// about a millisecond, nothing else of the process's memory can be mapped.
const givenAtOnce = 4 << 20

// giveBack lets go of what was written to a mapping.
func giveBack(b []byte) bool {
	for len(b) > 0 {
		n := min(len(b), givenAtOnce)
		if unix.Madvise(b[:n], unix.MADV_DONTNEED) != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

func (r *region) release() {
	if r.reserved {
		if r.usable > givenAtOnce {
			giveBack(r.room[:r.usable])
		}
		_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(r.room)), uintptr(len(r.room)))
	}
	*r = region{}
}

// borrow returns memory that is outside of Go's heap, so that nothing of it is
// left once it is given back, or nil where there is none.
func borrow(size int) (b []byte, back func()) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil
	}
	return unsafe.Slice((*byte)(p), size), func() { _ = unix.MunmapPtr(p, uintptr(size)) }
}
