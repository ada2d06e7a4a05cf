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
// so that the same guest is always treated the same. There are three ways.
//
// Copying all of it costs 45 ns a page of 4 KiB while that fits into the
// second-level cache and 110 ns beyond, which is what the other figures are in.
//
// Mapping it privately and letting go of what was written costs 4 us, and 1.8 us
// and more for each page that was, most of which is the fault when it is next
// written.
//
// Where the system tells which pages a process has of its own, those that were
// written to are kept and copied. That costs 1 us, some 12 ns to look at a page,
// and a copy for each page that was ever written to, which is taken to be twice
// what a call writes.
//
// Small memories are always copied. Comparing costs as much as copying, so that
// nothing is gained by looking for what to copy in what memory holds.
//
// Beyond maxCopied memory is not copied as a whole: it is mapped, whatever is
// written, or its instances are made anew where that cannot be, or where it holds
// more than maxNoted bytes that are not zero. What a memory holds is kept once: as
// bytes, or in the file that is mapped.
const (
	maxCopied    = 8 << 20
	maxNoted     = 32 << 20
	maxOwn       = maxCopied // of what is mapped, that is kept
	smallPages   = 64        // 256 KiB
	mappedFault  = 16        // a fault, in pages copied
	mappedCall   = 36        // the call, in pages copied
	trackedPage  = 2         // a page that is written, in pages copied
	trackedCall  = 12        // the call, in pages copied
	looksPerCopy = 8         // pages looked at in the time of one copied
	samples      = 3
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
	if !settle || !m.reserved {
		return
	}
	switch image := newImage(holds.bytes, maxNoted); {
	case image == nil:
	case image.cost(pages, p.dirty) < pages:
		p.content.Store(&content{image: image})
	default:
		image.close()
	}
}

// cost is what putting back a memory of so many pages costs, of which a call
// writes to some, in pages copied.
func (i *image) cost(pages, written int) int {
	if i.tracks() {
		return trackedCall + trackedPage*written + pages/looksPerCopy
	}
	return mappedCall + mappedFault*written
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

// What is put back at once, before the call that wrote it is told as over.
// Handing it to another goroutine takes a few microseconds, and as much again as
// the next call finds memory that is in another processor's cache, or has to make
// an instance as this one is not ready yet.
const (
	inlineCopied  = smallPages // pages copied
	inlineTracked = 256        // as many of those that are kept; some 20 us
	inlineMapped  = 8          // written pages of a mapping that are let go of
)

// cheap reports whether putting an instance back takes so little that handing it
// to another goroutine is not worth it.
func (s *snapshot) cheap(c *core) bool {
	copied, tracked := 0, 0
	for i := range s.parts {
		p, m := &s.parts[i], c.parts[i].memory
		if m == nil {
			continue
		}
		switch holds := p.content.Load(); {
		case holds.image == nil:
			copied += p.size / comparePage
		case p.size > maxCopied:
			return false
		case holds.image.tracks():
			tracked += holds.image.cost(p.size/comparePage, max(p.dirty, m.own/comparePage))
		case p.dirty > inlineMapped:
			return false
		}
		copied += max(0, len(m.buf)-p.size) / comparePage
	}
	return copied <= inlineCopied && tracked <= inlineTracked
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
		return c.image.putBack(&m.region)
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
