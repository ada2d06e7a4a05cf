//go:build !unix

package shell

import "os"

// pipe is one that a command writes to.
type pipe struct{ r, w *os.File }

func newPipe() (*pipe, error) {
	r, w, err := os.Pipe()
	return &pipe{r, w}, err
}

// last has read end, whoever holds the other end.
func (p *pipe) last() { _ = p.r.Close() }

// read reads the next bytes.
func (p *pipe) read(b []byte) (int, error) { return p.r.Read(b) }

func reserve(*os.File, int64, int64) {}
