package engine

import (
	"bytes"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pagemap is the file in which the system tells of every page of this process's
// memory where it is: 64 bits each. See Documentation/admin-guide/mm/pagemap.rst
// of the kernel.
type pagemap int

const noPagemap pagemap = -1

const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	pageOfFile  = 1 << 61 // or of memory that is shared
)

// pagesAtOnce is how many pages are looked at with one system call: 2 MiB of
// memory, told in 4 KiB.
const pagesAtOnce = 512

// isOwn reports whether a page of a private mapping was written to, as far as
// this can be told: the system gave the process a page of its own then. It can
// also be one that is zero and was only read.
func isOwn(entry uint64) bool {
	return entry&(pagePresent|pageSwapped) != 0 && entry&pageOfFile == 0
}

// read reads the entries of the pages from an address on.
func (p pagemap) read(entries []uint64, from *byte) bool {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(entries))), len(entries)*8)
	n, err := unix.Pread(int(p), b, int64(uintptr(unsafe.Pointer(from))/uintptr(unix.Getpagesize())*8))
	return err == nil && n == len(b)
}

// processPages is the process's pagemap, or noPagemap where it has none that can
// be relied on.
var processPages = sync.OnceValue(func() pagemap {
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return noPagemap
	}
	if p := pagemap(fd); tells(p.read) {
		return p
	}
	_ = unix.Close(fd)
	return noPagemap
})

// tells tries whether pages that were written to can be told from others by what
// is read of them. Whether they can is a matter of the kernel's version, of what
// it was built with, and of sandboxes that stand in for it.
func tells(read func(entries []uint64, from *byte) bool) bool {
	const pages = 5
	page := unix.Getpagesize()
	fd := newFile(bytes.Repeat([]byte{1}, pages*page))
	if fd < 0 {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	b, err := unix.Mmap(fd, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(b) }()
	own := func(want [pages]bool) bool {
		var entries [pages]uint64
		if !read(entries[:], &b[0]) {
			return false
		}
		for i, entry := range entries {
			if isOwn(entry) != want[i] {
				return false
			}
		}
		return true
	}
	none := [pages]bool{}
	if b[page] != 1 || b[2*page] != 1 || !own(none) {
		return false
	}
	// The first page is not used at all, the second was read, the third read and
	// now written, the fourth is written, the fifth is written and not changed.
	b[2*page], b[3*page], b[4*page] = 2, 2, 1
	return own([pages]bool{2: true, 3: true, 4: true}) && giveBack(b) && own(none)
}
