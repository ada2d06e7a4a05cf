package fs

import (
	"errors"
	"io"
	"os"
)

// rangeBody streams a range of a file. A file that ends before the range does
// is an error, since its length was promised.
type rangeBody struct {
	file     *os.File
	plan     *readPlan
	pos, end int64
	// observation is told with Close of what was read by then, which is in seen.
	observation *observation
	seen        *seen
}

func (b *rangeBody) Read(buf []byte) (int, error) {
	left := b.end - b.pos
	if left <= 0 {
		return 0, io.EOF
	}
	n, err := b.file.ReadAt(buf[:min(int64(len(buf)), left)], b.pos)
	b.pos += int64(n)
	if b.seen != nil {
		b.seen.pass(buf[:n], true)
	}
	switch {
	case n > 0 || err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return 0, b.plan.explain(err)
}

// Close closes the file.
func (b *rangeBody) Close() error {
	if b.seen != nil {
		b.seen.close()
		b.observation.tell()
		b.seen = nil
	}
	return b.file.Close()
}
