package engine

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
)

// comparePage is what memory is compared and put back by, in bytes.
const comparePage = 4 << 10

// How memory is put back is chosen for each part by what its first calls wrote,
// so that the same guest is always treated the same. Measured on two cores of a
// virtual EPYC, for pages of 4 KiB: copying costs 45 ns a page while all of it
// fits into the second-level cache and 110 ns beyond; letting go of a private
// mapping costs 4 us and 1.8 us for each page that was written, most of which is
// the fault when it is next written. So small memories are always copied, and
// larger ones are mapped where fewer than a sixteenth of their pages, less two,
// are written. Comparing costs as much as copying, so that nothing is gained by
// looking for what to copy.
//
// Beyond maxCopied there is no copying: a memory is mapped, whatever is written,
// or its instances are made anew where that cannot be, or where it holds more than
// maxNoted bytes that are not zero. What a memory holds is kept once: as bytes, or
// in the file that is mapped.
const (
	maxCopied      = 8 << 20
	maxNoted       = 32 << 20
	smallPages     = 64 // 256 KiB
	mappedFault    = 16 // a fault, in pages copied
	mappedCall     = 36 // the call, in pages copied
	samples        = 3
	inlineMapped   = 8 // written pages of a mapping that are let go of at once
	inlinePageCost = smallPages
)

// snapshot is what the instances of a pool are put back to: memory and globals
// as they were after a start. It is shared and counted.
type snapshot struct {
	refs  atomic.Int32
	parts []partImage
	// idle is what it is counted in, as idle memory: calls do without it.
	idle *idle
	size int64

	mu      sync.Mutex // guards sampling
	sampled int
	settled atomic.Bool // nothing needs to be sampled any more
}

// partImage is one part's state.
type partImage struct {
	globals []uint64
	size    int // of its memory, in bytes
	content atomic.Pointer[content]
	dirty   int // the most pages that a sampled call wrote
}

// content is what a memory holds: as bytes that are copied, or in a file that is
// mapped.
type content struct {
	bytes []byte
	runs  []run
	image *image
}

// run is a stretch of memory that is all zero, or is copied.
type run struct {
	from, to int
	zero     bool
}

// take notes the state of an instance. It returns nil where that cannot be done,
// and why, or "" if it may be possible later.
func (c *core) take(counted *idle) (s *snapshot, why string) {
	s = &snapshot{parts: make([]partImage, len(c.parts)), idle: counted}
	s.refs.Store(1)
	for i := range c.parts {
		p, at := &c.parts[i], &s.parts[i]
		for _, g := range p.globals {
			at.globals = append(at.globals, g.Get())
		}
		if p.memory == nil {
			continue
		}
		size, ok := at.note(p.memory)
		if !ok {
			s.free()
			return nil, "its memory is too large to be put back"
		}
		s.size += size
	}
	if !counted.keep(s.size) {
		s.free()
		return nil, ""
	}
	return s, ""
}

// note notes what a memory holds, and returns how much memory that takes.
func (p *partImage) note(m *linear) (size int64, ok bool) {
	p.size = len(m.buf)
	if p.size <= maxCopied {
		b := make([]byte, p.size)
		transfer(b, m.buf)
		p.content.Store(&content{bytes: b, runs: runsOf(b)})
		return int64(p.size), true
	}
	if !m.reserved {
		return 0, false
	}
	image := newImage(m.buf, maxNoted)
	if image == nil {
		return 0, false
	}
	p.content.Store(&content{image: image})
	return image.weight(), true
}

var zeros [comparePage]byte

func isZero(b []byte) bool {
	for ; len(b) > comparePage; b = b[comparePage:] {
		if !bytes.Equal(b[:comparePage], zeros[:]) {
			return false
		}
	}
	return bytes.Equal(b, zeros[:len(b)])
}

func runsOf(b []byte) []run {
	var runs []run
	for at := 0; at < len(b); at += comparePage {
		end := min(at+comparePage, len(b))
		zero := isZero(b[at:end])
		if n := len(runs); n > 0 && runs[n-1].zero == zero {
			runs[n-1].to = end
		} else {
			runs = append(runs, run{at, end, zero})
		}
	}
	return slices.Clip(runs)
}

func (s *snapshot) hold() *snapshot {
	s.refs.Add(1)
	return s
}

// drop lets go of one hold.
func (s *snapshot) drop() {
	if s == nil || s.refs.Add(-1) > 0 {
		return
	}
	s.idle.release(s.size)
	s.free()
}

func (s *snapshot) free() {
	for i := range s.parts {
		if c := s.parts[i].content.Load(); c != nil && c.image != nil {
			c.image.close()
		}
	}
}

// sample looks at what a call wrote, and after a few calls chooses.
func (s *snapshot) sample(c *core) {
	if !s.mu.TryLock() {
		return // another call is being looked at
	}
	defer s.mu.Unlock()
	if s.sampled >= samples {
		return
	}
	s.sampled++
	for i := range s.parts {
		s.parts[i].sample(c.parts[i].memory, s.sampled == samples)
	}
	s.settled.Store(s.sampled == samples)
}

// sample looks at one part, for the last time where it is to be settled.
func (p *partImage) sample(m *linear, settle bool) {
	pages := p.size / comparePage
	holds := p.content.Load()
	if pages <= smallPages || holds.image != nil {
		return
	}
	p.dirty = max(p.dirty, differing(holds.bytes, m.buf))
	if !settle || !m.reserved || mappedCall+mappedFault*p.dirty >= pages {
		return
	}
	if image := newImage(holds.bytes, maxNoted); image != nil {
		p.content.Store(&content{image: image})
	}
}

func differing(a, b []byte) (pages int) {
	for at := 0; at < len(a); at += comparePage {
		end := min(at+comparePage, len(a))
		if !bytes.Equal(a[at:end], b[at:end]) {
			pages++
		}
	}
	return pages
}

// cheap reports whether putting an instance back takes so little, some five
// microseconds, that handing it to another goroutine is not worth it.
func (s *snapshot) cheap(c *core) bool {
	pages := 0
	for i := range s.parts {
		p, m := &s.parts[i], c.parts[i].memory
		if m == nil {
			continue
		}
		switch holds := p.content.Load(); {
		case holds.image == nil:
			pages += p.size / comparePage
		case p.size > maxCopied, p.dirty > inlineMapped:
			return false
		}
		pages += max(0, len(m.buf)-p.size) / comparePage
	}
	return pages <= inlinePageCost
}

// restore puts one part back, or a fresh one there. It reports false where that
// cannot be done, as when the memory has grown to its limit.
func (p *partImage) restore(to *part, fresh bool) bool {
	if m := to.memory; m != nil {
		if len(m.buf) != p.size && !m.truncate(to.api, p.size) {
			return false
		}
		if !p.content.Load().restore(m, fresh) {
			return false
		}
	}
	for i, g := range to.globals {
		g.Set(p.globals[i])
	}
	return true
}

func (c *content) restore(m *linear, fresh bool) bool {
	switch {
	case m.mapped:
		return c.image.uncover(&m.region)
	case c.image != nil:
		return c.image.fits(&m.region) && c.image.cover(&m.region)
	}
	for _, r := range c.runs {
		switch {
		case !r.zero:
			transfer(m.buf[r.from:r.to], c.bytes[r.from:r.to])
		case fresh:
			m.untouch(r.from, r.to)
		default:
			wipe(m.buf[r.from:r.to])
		}
	}
	return true
}

// untouch clears a part of a memory that was hardly used: clearing it as usual
// would have the system find memory for all of it.
func (l *linear) untouch(from, to int) {
	first, last := (from+pageSize-1)/pageSize*pageSize, to/pageSize*pageSize
	if first >= last || !l.reserved || !l.discard(l.buf[first:last]) {
		wipe(l.buf[from:to])
		return
	}
	wipe(l.buf[from:first])
	wipe(l.buf[last:to])
}
