package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// The sequences that a live region is drawn with. Every terminal of the last
// thirty years knows them.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	// A line that a terminal finds wider than we do ends at the edge, in place of
	// taking a second row that would not be cleared.
	wrapOff = "\x1b[?7l"
	wrapOn  = "\x1b[?7h"
	// What stands from the cursor to the end of its line, or of the screen.
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// screen is a terminal that printers share: lines that stay, and below them a
// live region that is drawn anew again and again.
//
// Between two frames the cursor stands at the beginning of the region, not below
// it. Clearing the region then takes no counting of rows, which a terminal that
// was made narrower may have broken into more.
type screen struct {
	mu sync.Mutex
	// w is where the region is drawn.
	w io.Writer
	// shown is the region as it stands on the terminal; empty is none. rows is how
	// many it has.
	shown string
	rows  int
	// still counts the frames since it was drawn, all like it.
	still int
	// size asks for the columns and rows of the terminal.
	size func() (width, height int)
	// held counts those who keep the region off.
	held int
	// open says that the last line that was written has no end yet.
	open bool
}

// write writes what stays. The region makes room and comes back below it.
func (s *screen) write(w io.Writer, b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown, rows := s.shown, s.rows
	s.clear()
	n, err := w.Write(b)
	if n > 0 {
		s.open = b[n-1] != '\n'
	}
	// One that does not fit any more is for the next frame to mend.
	if shown == "" || s.open {
		return n, err
	}
	if _, height := s.size(); rows <= height {
		s.show("", shown)
		s.rows = rows
	}
	return n, err
}

// draw writes lines that stay and shows the region below them, in one write. It
// reports false, and does nothing, while the region is held off, and where the
// terminal has another size than the one that the region was made for: of more
// rows than there are, the first would scroll away and stay.
func (s *screen) draw(above string, live []string, width, height int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held > 0 || s.open {
		return false
	}
	if w, h := s.size(); w != width || h != height {
		return false
	}
	region := picture(live)
	if s.still++; above == "" && region == s.shown && s.still < maxStill {
		return true
	}
	s.show(above, region)
	s.rows = len(live)
	return true
}

// maxStill is how many frames may be alike before one is drawn all the same: what
// was typed meanwhile, or came of another size, does not stay.
const maxStill = 10

// ready reports whether draw would do something.
func (s *screen) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held == 0 && !s.open
}

// last writes lines that stay to w, held or not, and clears the region.
func (s *screen) last(w io.Writer, above string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	_, _ = io.WriteString(w, above)
}

// picture is a region from its beginning back to it.
func picture(live []string) string {
	if len(live) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(wrapOff)
	b.WriteString(strings.Join(live, clearLine+"\r\n"))
	b.WriteString(clearBelow + "\r")
	if up := len(live) - 1; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString(wrapOn)
	return b.String()
}

// show puts lines that stay where the region is, and a region below them. The
// region is written over the older one, so that nothing flickers.
func (s *screen) show(above, region string) {
	var b strings.Builder
	if s.shown != "" {
		b.WriteString("\r") // what is typed shows at the cursor: ^C
		if above != "" || region == "" {
			b.WriteString(clearBelow)
		}
	}
	b.WriteString(above)
	b.WriteString(region)
	s.shown, s.still = region, 0
	if b.Len() == 0 {
		return
	}
	frame := b.String()
	if region != "" {
		frame = hideCursor + frame + showCursor
	}
	_, _ = io.WriteString(s.w, frame) // who has no terminal any more sees nothing
}

// clear takes the region off the terminal.
func (s *screen) clear() { s.show("", "") }

// takeOff clears the region and leaves the terminal as others want it. Where Ctrl-Z or Ctrl-C is
// typed, the system drops what was written and not yet shown, perhaps the end of a frame.
func (s *screen) takeOff() {
	if s.shown != "" {
		s.clear()
		_, _ = io.WriteString(s.w, wrapOn+showCursor)
	}
}

// hold keeps the region off the terminal until it is released.
func (s *screen) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	s.takeOff()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
		s.open = false // the person's Enter ended it
	})
}

// abandonTime is how long a stuck terminal holds up the end of the program.
const abandonTime = time.Second

func (s *screen) abandon() {
	const pause = 5 * time.Millisecond
	for range abandonTime / pause {
		if s.mu.TryLock() {
			s.held++
			s.takeOff()
			s.mu.Unlock()
			return
		}
		time.Sleep(pause)
	}
}
