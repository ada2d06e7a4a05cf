package engine

import (
	"encoding/binary"
	"math"
	"time"
)

// iovecsAtOnce is how many pieces of a write are looked at between two checks
// whether the call is over.
const iovecsAtOnce = 1024

// fdWrite writes to the log. All pieces are checked before any is written, so
// that a write that fails writes nothing.
func fdWrite(c *wasiCall) errno {
	fd, at, count := c.u32(0), c.u32(1), c.u32(2)
	if fd == 0 || !c.open(fd) {
		return badf
	}
	if count > math.MaxUint32/8 {
		return fault
	}
	iovecs, ok := c.mem.Read(at, 8*count)
	if !ok {
		return fault
	}
	total := uint64(0)
	for i := 0; i < len(iovecs); i += 8 {
		if i%(8*iovecsAtOnce) == 0 && i > 0 {
			c.run.Check()
		}
		p, ok := c.mem.Read(le32(iovecs[i:]), le32(iovecs[i+4:]))
		if !ok {
			return fault
		}
		total += uint64(len(p))
	}
	if total > math.MaxInt32 {
		return inval
	}
	c.writeAll(iovecs)
	return c.putU32(c.u32(3), uint32(total))
}

func (c *wasiCall) writeAll(iovecs []byte) {
	since := 0 // bytes and pieces since the last check
	for ; len(iovecs) > 0; iovecs = iovecs[8:] {
		p, _ := c.mem.Read(le32(iovecs), le32(iovecs[4:]))
		for len(p) > 0 {
			n := min(len(p), piece)
			c.run.logLines.write(p[:n])
			p = p[n:]
			since += n
			if since >= piece {
				c.run.Check()
				since = 0
			}
		}
		since += piece / iovecsAtOnce
	}
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

const (
	maxSubscriptions = 1024
	subscriptionSize = 48
	eventSize        = 32

	eventClock   = 0
	eventFdRead  = 1
	eventFdWrite = 2
)

// pollOneoff waits for the first of a number of events. The streams are always
// ready, so that only clocks are ever waited for.
func pollOneoff(c *wasiCall) errno {
	in, out, count := c.u32(0), c.u32(1), c.u32(2)
	if count == 0 || count > maxSubscriptions {
		return inval
	}
	subs, ok := c.mem.Read(in, count*subscriptionSize)
	events, fits := c.mem.Read(out, count*eventSize)
	if !ok || !fits {
		return fault
	}
	// They may overlap.
	subs = append([]byte(nil), subs...)
	n, e := c.ready(subs, events)
	if n == 0 && e == success {
		var wait time.Duration
		if wait, e = c.shortest(subs); e == success {
			c.sleep(wait)
			wait = max(wait, 0)
			n = c.elapsed(subs, events, wait)
		}
	}
	if e != success {
		return e
	}
	return c.putU32(c.u32(3), n)
}

// ready writes the events of descriptors, all of which have come already.
func (c *wasiCall) ready(subs, events []byte) (n uint32, e errno) {
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		kind, fd := subs[8], le32(subs[16:])
		switch {
		case kind == eventClock:
			continue
		case kind != eventFdRead && kind != eventFdWrite:
			return 0, inval
		case !c.open(fd) || (kind == eventFdRead) != (fd == 0):
			writeEvent(events[n*eventSize:], subs, badf)
		default:
			writeEvent(events[n*eventSize:], subs, success)
		}
		n++
	}
	return n, success
}

// timeout is how long a subscription to a clock has to wait.
func (c *wasiCall) timeout(sub []byte) (time.Duration, errno) {
	t := binary.LittleEndian.Uint64(sub[24:])
	at := time.Duration(min(t, math.MaxInt64))
	if sub[40]&1 == 0 { // not absolute
		return at, success
	}
	c.run.TakeOutside() // whether it is past that time
	switch le32(sub[16:]) {
	case clockRealtime:
		return at - time.Duration(time.Now().UnixNano()), success
	case clockMonotonic:
		return at - time.Since(started), success
	}
	return 0, inval
}

func (c *wasiCall) shortest(subs []byte) (time.Duration, errno) {
	least := time.Duration(math.MaxInt64)
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		t, e := c.timeout(subs)
		if e != success {
			return 0, e
		}
		least = min(least, t)
	}
	return least, success
}

// elapsed writes the events of clocks whose time has come after a wait.
func (c *wasiCall) elapsed(subs, events []byte, waited time.Duration) (n uint32) {
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		relative := subs[40]&1 == 0
		t, _ := c.timeout(subs)
		if relative && t <= waited || !relative && t <= 0 {
			writeEvent(events[n*eventSize:], subs, success)
			n++
		}
	}
	return n
}

// sleep waits on the guest's own time, which it might as well spend spinning.
func (c *wasiCall) sleep(d time.Duration) {
	c.run.Check()
	if d <= 0 {
		return
	}
	t := time.NewTimer(min(d, c.run.remaining(time.Now())))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.run.done:
	}
	c.run.Check()
}

func writeEvent(event, sub []byte, e errno) {
	clear(event[:eventSize])
	copy(event, sub[:8])
	binary.LittleEndian.PutUint16(event[8:], uint16(e))
	event[10] = sub[8]
}
