package shell

import (
	"errors"
	"io"
	"os"
)

// inMemory is how much of an output is held in memory before it goes to a file, in bytes.
const inMemory = 256 << 10

// content is what is kept of a stream: in memory, and all of it in a file once it is longer.
type content struct {
	// open makes the file.
	open  func() (*os.File, error)
	mem   []byte   // all of it, until there is a file
	file  *os.File // nil until it is needed
	size  int64    // how many bytes are in mem, or the file
	ahead int64    // how many the file has room for; see makeRoom
}

// write adds the next bytes, and returns how many it kept.
func (c *content) write(p []byte) (int, error) {
	if c.file == nil && len(c.mem)+len(p) <= inMemory {
		c.mem = append(c.mem, p...)
		c.size = int64(len(c.mem))
		return len(p), nil
	}
	if err := c.toFile(); err != nil {
		return 0, err
	}
	c.makeRoom(len(p))
	n, err := c.file.Write(p)
	c.size += int64(n)
	return n, err
}

// toFile moves what is in memory to a file, unless there is one. Later bytes go there at once.
func (c *content) toFile() error {
	if c.file != nil {
		return nil
	}
	f, err := c.open()
	if err != nil {
		return err
	}
	if _, err := f.Write(c.mem); err != nil {
		return errors.Join(err, discard(f))
	}
	c.file, c.mem = f, nil
	return nil
}

// makeRoom reserves room for many writes at once, which takes a third of the time of a large
// output. If it fails, writing makes its own room.
func (c *content) makeRoom(n int) {
	const from, most = 1 << 20, 32 << 20
	if c.size < from || c.size+int64(n) <= c.ahead {
		return
	}
	c.ahead = max(c.ahead, c.size)
	more := min(max(c.size, int64(n)), most)
	reserve(c.file, c.ahead, more)
	c.ahead += more
}

// slice reads what lies between two places; nil if it cannot be read.
func (c *content) slice(from, to int64) []byte {
	p := make([]byte, to-from)
	if c.file == nil {
		return p[:copy(p, c.mem[min(from, int64(len(c.mem))):])]
	}
	n, err := c.file.ReadAt(p, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return p[:n]
}

// close closes the file, if there is one, and removes it unless it is wanted.
func (c *content) close(wanted bool) error {
	switch {
	case c.file == nil:
		return nil
	case !wanted:
		return discard(c.file)
	case c.ahead <= c.size:
		return c.file.Close()
	}
	return errors.Join(c.file.Truncate(c.size), c.file.Close()) // the room that was not needed
}

// discard closes and removes a file.
func discard(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }
