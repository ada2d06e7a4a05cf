package abi

import (
	"errors"
	"io"
	"slices"
)

// gathering joins the sources of one block: in memory first, and in a spill from
// where they are too long for it.
type gathering struct {
	*sources
	held []byte
	most int64 // that held may have
	// parts are the bytes of parts among all.
	parts int64
	make  func() (Spill, error) // nil where nothing may be spilled
	spill Spill                 // nil until held is full
}

func (g *gathering) add(src Source) error {
	if src.Handle == nil || src.Part != nil {
		part, err := g.part(src)
		if err != nil {
			return err
		}
		if g.parts += int64(len(part)); g.parts > g.left {
			return g.overLimit()
		}
		return g.addPart(part)
	}
	if src.Length < 0 {
		return Errorf(CodeProtocol, "a length of %d bytes is negative", src.Length)
	}
	body, err := g.answer(*src.Handle)
	if err != nil {
		return err
	}
	if src.Length == 0 {
		defer g.end(*src.Handle, body)
		return g.addBody(body)
	}
	g.begin(*src.Handle, body)
	return g.addBody(&piece{body: body, left: src.Length})
}

// piece is the beginning of a body.
type piece struct {
	body io.Reader
	left int64 // that may be read of it
}

// Read reads the next bytes, up to the piece's end.
func (p *piece) Read(into []byte) (int, error) {
	if p.left <= 0 {
		return 0, io.EOF
	}
	n, err := p.body.Read(into[:min(int64(len(into)), p.left)])
	p.left -= int64(n)
	return n, err
}

// Left tells how many bytes will come, or is negative.
func (p *piece) Left() int64 { return min(leftOf(p.body), p.left) }

func (g *gathering) addPart(part []byte) error {
	if g.spill == nil && int64(len(g.held)+len(part)) <= g.most {
		g.held = append(g.held, part...)
		return nil
	}
	if err := g.overflow(); err != nil {
		return err
	}
	return g.write(part)
}

// addBody reads into memory what there is room for, and spills the rest.
func (g *gathering) addBody(body io.Reader) error {
	ended := false
	if left := leftOf(body); left <= g.most-int64(len(g.held)) && g.spill == nil {
		var err error
		if ended, err = g.hold(body, left); err != nil {
			return err
		}
	}
	if ended {
		return nil
	}
	if err := g.overflow(); err != nil {
		return err
	}
	// What was held is written, and its memory free.
	g.held = slices.Grow(g.held[:0], copySize)
	return g.copy(body, g.held[:cap(g.held)])
}

// copySize is the least room for bytes on their way to a spill.
const copySize = 64 << 10

// copy spills the rest of a body. [io.Copy] would have everything here moved to the
// heap, for every result.
func (g *gathering) copy(body io.Reader, room []byte) error {
	for {
		n, failed := body.Read(room)
		if err := g.write(room[:n]); err != nil {
			return err
		}
		if errors.Is(failed, io.EOF) {
			return nil
		}
		if failed != nil {
			return failed
		}
	}
}

// hold reads a body into memory, of which left bytes will come if that is known.
// It reports whether the body ended before held was full.
func (g *gathering) hold(body io.Reader, left int64) (ended bool, err error) {
	const leastRead = 512
	for int64(len(g.held)) <= g.most {
		g.held = slices.Grow(g.held, int(max(left+1, leastRead)))
		room := g.held[len(g.held):min(int64(cap(g.held)), g.most+1)]
		n, err := body.Read(room)
		g.held = g.held[:len(g.held)+n]
		left -= int64(n)
		if errors.Is(err, io.EOF) {
			return int64(len(g.held)) <= g.most, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// leftOf tells how many bytes will come of a body, or is negative.
func leftOf(body io.Reader) int64 {
	if b, ok := body.(interface{ Left() int64 }); ok {
		return b.Left()
	}
	return -1
}

// overflow begins the spill with what is held, once.
func (g *gathering) overflow() error {
	if g.make == nil {
		return g.overLimit()
	}
	if g.spill != nil {
		return nil
	}
	var err error
	if g.spill, err = g.make(); err != nil {
		return SpillError(err)
	}
	g.spills = append(g.spills, g.spill)
	return g.write(g.held)
}

// write spills bytes.
func (g *gathering) write(p []byte) error {
	if g.spillLeft -= int64(len(p)); g.spillLeft < 0 {
		return Errorf(CodeLimit, "the result is over the %s that a result may have on disk", Size(MaxSpilled))
	}
	_, err := g.spill.Write(p)
	return SpillError(err)
}
