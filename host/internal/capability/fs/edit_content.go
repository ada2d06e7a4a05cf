package fs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
)

const (
	// wholeSize is the size up to which a file that is edited is held in memory,
	// where that is fastest.
	wholeSize = 8 << 20
	// windowSize is how much of a larger file is looked at in one go.
	windowSize = 4 << 20
)

var errShorter = errors.New("the file became shorter while it was read")

// content is what a file holds: in memory where it is small.
type content struct {
	file readAtCloser
	size int64
	mem  []byte // nil for what is larger than wholeSize
	step int64  // the size of a window; an even number
}

type readAtCloser interface {
	io.ReaderAt
	io.Closer
}

// load takes a small file into memory.
func (c *content) load() (err error) {
	if c.size <= wholeSize {
		c.mem, err = c.window(make([]byte, c.size), 0, c.size)
	}
	return err
}

func (c *content) close() error { return c.file.Close() }

// window returns n bytes from off on; buf is used where they are not in memory.
func (c *content) window(buf []byte, off, n int64) ([]byte, error) {
	if c.mem != nil {
		return c.mem[off : off+n], nil
	}
	if got, err := c.file.ReadAt(buf[:n], off); int64(got) < n {
		return nil, shorter(err)
	}
	return buf[:n], nil
}

// head is what the encoding is told by, and whether that is everything.
func (c *content) head() ([]byte, bool, error) {
	n := min(c.size, headSize)
	head, err := c.window(make([]byte, n), 0, n)
	return head, n == c.size, err
}

// reader reads all of it.
func (c *content) reader() io.Reader {
	if c.mem != nil {
		return bytes.NewReader(c.mem)
	}
	return io.NewSectionReader(c.file, 0, c.size)
}

// each hands over the bytes from from up to to, in pieces.
func (c *content) each(from, to int64, do func(piece []byte) error) error {
	var buf []byte
	if c.mem == nil {
		buf = make([]byte, min(to-from, headSize))
	}
	for from < to {
		n := min(to-from, headSize)
		piece, err := c.window(buf, from, n)
		if err != nil {
			return err
		}
		if err := do(piece); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// hash is that of the bytes from from up to to; going is asked after each piece of them.
func (c *content) hash(from, to int64, going func() error) (sum [32]byte, err error) {
	h := sha256.New()
	err = c.each(from, to, func(piece []byte) error {
		h.Write(piece)
		return going()
	})
	h.Sum(sum[:0])
	return sum, err
}

// equals compares it with as many bytes.
func (c *content) equals(raw []byte, going func() error) (bool, error) {
	same, at := true, 0
	err := c.each(0, c.size, func(piece []byte) error {
		same = same && bytes.Equal(piece, raw[at:at+len(piece)])
		at += len(piece)
		return going()
	})
	return same, err
}

// now is what the file holds now, and not what was loaded.
func (c *content) now() *content { return &content{file: c.file, size: c.size} }

func shorter(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errShorter
	}
	return err
}
