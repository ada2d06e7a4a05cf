package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// contents are the former contents that a history keeps: the small ones in its log, the
// others in files beside it. The mutex of the history's [Store] guards them.
type contents struct {
	dir     string
	log     *index
	options Options
	// pinned counts, by hash, the restorings under way that need a content.
	pinned map[string]int
}

// put sees to it that a content is kept, with its record or before it. What is kept of it
// already is not trusted, as it may have been damaged since: it must be what would be
// written now. That takes no more than reading what is compressed, where unpacking and
// hashing takes ten times as long. What is not equal is written anew, at once, also where
// only another version of the compressor wrote it.
func (c *contents) put(l *line, p *packed) error {
	at, known := c.log.places[p.content.Hash]
	isFile := known && at.length == 0
	switch {
	case known && c.holds(at, p):
		return nil
	case !isFile && p.file == "" && len(p.held) <= maxInline:
		l.Inline = p.held
		return nil
	}
	size, err := p.save(c.dir, true)
	if err == nil {
		c.log.saved(p.content.Hash, size)
	}
	return err
}

// holds reports whether the bytes at a place are those that p would be kept as.
func (c *contents) holds(at place, p *packed) bool {
	if at.length > 0 {
		held, err := c.log.inline(p.content.Hash, at)
		return err == nil && bytes.Equal(held, p.held)
	}
	kept, err := os.Open(blobPath(c.dir, p.content.Hash))
	if err != nil {
		return false
	}
	defer kept.Close()
	if p.file == "" {
		return equal(kept, bytes.NewReader(p.held))
	}
	packed, err := os.Open(p.file)
	if err != nil {
		return false
	}
	defer packed.Close()
	return equal(kept, packed)
}

// equal reports whether two readers hold the same to their ends.
func equal(a, b io.Reader) bool {
	const piece = 64 << 10
	x, y := make([]byte, piece), make([]byte, piece)
	for {
		n, errX := io.ReadFull(a, x)
		m, errY := io.ReadFull(b, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if errX != nil || errY != nil {
			return isEnd(errX) && isEnd(errY)
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// open begins to read the content that is kept at a place. The caller need not hold
// the mutex.
func (c *contents) open(want *Content, at place) (io.ReadCloser, error) {
	if at.length > 0 {
		held, err := c.log.inline(want.Hash, at)
		if err != nil {
			return nil, err
		}
		return unpack(io.NopCloser(bytes.NewReader(held)), want), nil
	}
	f, err := os.Open(blobPath(c.dir, want.Hash))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return unpack(f, want), nil
}
