package engine

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// image is a snapshot that can be mapped over a memory, privately: what is
// written to it stays the instance's own, and is gone once it is let go of.
type image struct {
	fd   int
	size int
	// extents are what of it is mapped, in bytes from and to; the rest is zero.
	extents [][2]int
	// view is the file once more, to copy from, and pages tells what to copy over.
	// There is no view where all that was written is let go of.
	view  []byte
	pages pagemap
}

// newImage puts a snapshot into a sealed file in memory. It returns nil where the
// system has none, or where more than most bytes would have to be in it.
func newImage(content []byte, most int64) *image {
	i := &image{size: len(content), extents: extentsOf(content)}
	if i.weight() > most {
		return nil
	}
	i.fd = newFile(content)
	if i.fd < 0 {
		return nil
	}
	i.track(processPages())
	return i
}

// maxTracked is the largest memory that is put back page by page, in bytes: finding
// out which of its pages were written to takes 40 us.
const maxTracked = 32 << 20

// track has memory put back page by page, where that can be.
func (i *image) track(pages pagemap) {
	if pages == noPagemap || i.size > maxTracked {
		return
	}
	p, err := unix.MmapPtr(i.fd, 0, nil, uintptr(i.size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return
	}
	i.view, i.pages = unsafe.Slice((*byte)(p), i.size), pages
}

// tracks reports whether memory is put back page by page.
func (i *image) tracks() bool { return i.view != nil }

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
func (i *image) uncover(r *region) bool {
	r.own, r.stale = 0, 0
	return giveBack(r.room[:i.size])
}

// putBack makes a region that the image covers as the image is. Pages that were
// written to stay the region's own and are copied again from then on, so that
// the next call does not fault on them: until they are too many, or copying what
// calls do not write to any more has cost as much as starting over.
func (i *image) putBack(r *region) bool {
	if !i.tracks() || !i.copyOwn(r) {
		return i.uncover(r)
	}
	return true
}

// copyOwn puts back the pages that are the region's own. It reports false where
// they are to be let go of instead: all that was written is in one of them, but
// not all of them were put back.
func (i *image) copyOwn(r *region) bool {
	var entries [pagesAtOnce]uint64
	page := unix.Getpagesize()
	own, written := 0, 0
	for at := 0; at < i.size; at += len(entries) * page {
		part := entries[:min(len(entries), (i.size-at)/page)]
		if !i.pages.read(part, &r.room[at]) {
			return false
		}
		for n, entry := range part {
			if !isOwn(entry) {
				continue
			}
			own += page
			if from := at + n*page; i.copyTo(r.room[from:from+page], from) {
				written += page
			}
		}
		if own > maxOwn {
			return false
		}
	}
	r.own = own
	r.stale += own - written
	return r.stale <= mappedCall*comparePage+mappedFault*written
}

// copyTo makes a page as the image is from a byte on, and reports whether it was
// not. To compare it first costs next to nothing: it is what brings both into the
// cache.
func (i *image) copyTo(page []byte, from int) (written bool) {
	if !i.holds(from) {
		if isZero(page) {
			return false
		}
		clear(page)
		return true
	}
	content := i.view[from:][:len(page)]
	if bytes.Equal(page, content) {
		return false
	}
	copy(page, content)
	return true
}

// holds reports whether a byte of the memory comes from the file. Reading the rest
// of the file, all of it zero, would have the system find memory for it.
func (i *image) holds(at int) bool {
	for _, x := range i.extents {
		if x[0] <= at && at < x[1] {
			return true
		}
	}
	return false
}

func (i *image) close() {
	if i.view != nil {
		_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(i.view)), uintptr(len(i.view)))
	}
	_ = unix.Close(i.fd)
}
