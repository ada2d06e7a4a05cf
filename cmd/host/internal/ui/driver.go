package ui

import "time"

// frameTime is how long a frame stands at least. A terminal that takes longer to
// draw one misses those in between.
const frameTime = 100 * time.Millisecond

// driver draws a timeline's live region, frame by frame, on a goroutine of its
// own: only that waits for the terminal.
type driver struct {
	t    *Timeline
	quit chan struct{}
	gone chan struct{}
	// late is what could not be printed for good, because somebody had the terminal.
	late string
}

func drive(t *Timeline) *driver {
	d := &driver{t: t, quit: make(chan struct{}), gone: make(chan struct{})}
	go d.run()
	return d
}

func (d *driver) run() {
	defer close(d.gone)
	if p := d.t.p; p.stops != nil {
		defer p.stops(p.Hold)()
	}
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.draw()
		case <-d.quit:
			return
		}
	}
}

// draw draws one frame. While the terminal is somebody else's everything waits, and
// where it is made another size meanwhile, what stays waits for the next frame.
func (d *driver) draw() {
	t := d.t
	if !t.p.screen.ready() {
		return
	}
	width, height := t.p.Size()
	above, live := t.frame(width, height)
	d.late += above
	if t.p.screen.draw(d.late, live, width, height) {
		d.late = ""
	}
}

// frame is what is new above the live region, and the region.
func (t *Timeline) frame(width, height int) (above string, live []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The last column stays free: what a terminal does there is not agreed on.
	width = max(width-1, 1)
	for _, line := range t.board.frame(t.start, time.Now(), width, height) {
		live = append(live, style(layout(line, width), width, t.p.Colour))
	}
	return t.board.above.take(width, t.p.Colour), live
}

// stop ends the driver and returns what it has not printed.
func (d *driver) stop() string {
	close(d.quit)
	<-d.gone
	return d.late
}
