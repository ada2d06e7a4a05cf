package direct

import (
	"bytes"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// maxLogLine cuts longer lines of a guest's standard output and error, in
// bytes.
const maxLogLine = 4 << 10

// guestLog turns what a guest writes to its standard output and error into log
// lines of the call it is serving.
type guestLog struct {
	mu   sync.Mutex
	line []byte
	tell func(abi.ProgressHead) // nil while no call is served
	tail string
}

// Write takes any bytes and never fails: a guest's log is not its concern.
func (g *guestLog) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			g.grow(p)
			break
		}
		g.grow(p[:i])
		g.flush()
		p = p[i+1:]
	}
	return n, nil
}

func (g *guestLog) grow(p []byte) {
	room := max(maxLogLine-len(g.line), 0)
	g.line = append(g.line, p[:min(room, len(p))]...)
}

func (g *guestLog) flush() {
	if len(g.line) == 0 {
		return
	}
	g.tail = string(bytes.ToValidUTF8(g.line, []byte("\uFFFD")))
	g.line = g.line[:0]
	if g.tell != nil {
		g.tell(abi.ProgressHead{Log: &abi.Log{Level: "info", Message: g.tail}})
	}
}

// serve directs what is written from now on to a call, or to none.
func (g *guestLog) serve(tell func(abi.ProgressHead)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flush()
	g.tell = tell
}

// last ends the current line and returns the last one written.
func (g *guestLog) last() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flush()
	return g.tail
}
