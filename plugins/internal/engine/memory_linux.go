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

// image is a snapshot that can be mapped over a memory, privately: what is
// written to it stays the instance's own, and is gone once it is let go of.
type image struct {
	fd   int
	size int
	// extents are what of it is mapped, in bytes from and to; the rest is zero.
	extents [][2]int
}

// newImage puts a snapshot into a sealed file in memory. It returns nil where the
// system has none, or where more than most bytes would have to be in it.
func newImage(content []byte, most int64) *image {
	i := &image{size: len(content), extents: extentsOf(content)}
	if i.weight() > most {
		return nil
	}
	fd, err := unix.MemfdCreate("toolquay-snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	if writeSparse(fd, content) != nil {
		_ = unix.Close(fd)
		return nil
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	i.fd = fd
	return i
}

// writeSparse leaves out pages that are zero.
func writeSparse(fd int, content []byte) error {
	if err := unix.Ftruncate(fd, int64(len(content))); err != nil {
		return err
	}
	for at := 0; at < len(content); at += pageSize {
		page := content[at:min(at+pageSize, len(content))]
		for done := 0; done < len(page) && !isZero(page); {
			n, err := unix.Pwrite(fd, page[done:], int64(at+done))
			if err != nil {
				return err
			}
			done += n
		}
	}
	return nil
}

// Memory that is zero is not mapped from the file: the system would find memory
// for it twice, for the file and for the instance. But gaps of less than leastGap
// bytes are not worth a mapping, and no image has more than mostExtents: a process
// has some 65,000 mappings in all, and an instance takes two for each and one.
const (
	leastGap    = 1 << 20
	mostExtents = 4
)

func extentsOf(content []byte) (extents [][2]int) {
	for at := 0; at < len(content); at += pageSize {
		end := min(at+pageSize, len(content))
		if isZero(content[at:end]) {
			continue
		}
		if n := len(extents) - 1; n >= 0 && at-extents[n][1] < leastGap {
			extents[n][1] = end
		} else {
			extents = append(extents, [2]int{at, end})
		}
	}
	if len(extents) > mostExtents {
		return [][2]int{{0, len(content)}}
	}
	return extents
}

// weight is how much memory the file can take, in bytes.
func (i *image) weight() (n int64) {
	for _, x := range i.extents {
		n += int64(x[1] - x[0])
	}
	return n
}

// fits reports whether the image can be mapped over the beginning of a region.
func (i *image) fits(r *region) bool { return r.reserved && uint64(i.size) <= r.usable }

// cover maps the image over the beginning of a region, which is of no use any
// more where that fails.
func (i *image) cover(r *region) bool {
	r.mapped = true
	if !giveBack(r.room[:i.size]) {
		return false
	}
	for _, x := range i.extents {
		at := unsafe.Pointer(&r.room[x[0]])
		_, err := unix.MmapPtr(i.fd, int64(x[0]), at, uintptr(x[1]-x[0]), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
		if err != nil {
			return false
		}
	}
	return true
}

// uncover lets go of what was written over the image.
func (i *image) uncover(r *region) bool { return giveBack(r.room[:i.size]) }

func (i *image) close() { _ = unix.Close(i.fd) }

// borrow returns memory that is outside of Go's heap, so that nothing of it is
// left once it is given back, or nil where there is none.
func borrow(size int) (b []byte, back func()) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil
	}
	return unsafe.Slice((*byte)(p), size), func() { _ = unix.MunmapPtr(p, uintptr(size)) }
}
