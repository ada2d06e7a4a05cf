package results

import (
	"bufio"
	"errors"
	"log/slog"
	"os"

	"github.com/toolquay/toolquay/abi"
)

// errDiscarded is that of a text nobody wants any more.
var errDiscarded = errors.New("the text was discarded")

// spillBuffer is how much is written at a time, in bytes.
const spillBuffer = 64 << 10

// spill is a text on its way into a file.
type spill struct {
	*abi.SpillWriter
	log      *slog.Logger
	file     *os.File // nil where it could not be made
	buffered *bufio.Writer
	// failed is why there is no file to be had, discarded that nobody wants one.
	failed    error
	discarded bool
}

// toFile is where a spill's text goes.
type toFile struct{ *spill }

// Write writes as long as that goes well. What it cannot write is let go of, for
// what is noted of it on the way is worth more than nothing.
func (s toFile) Write(p []byte) (int, error) {
	if s.failed == nil {
		if _, err := s.buffered.Write(p); err != nil {
			s.fail(err)
		}
	}
	return len(p), nil
}

// fail gives up the file, and the room it takes.
func (s *spill) fail(err error) {
	s.failed = err
	s.log.Warn("a long result could not be written to a file, and will be cut", "error", err)
	s.remove()
}

func (s *spill) remove() {
	if s.file != nil {
		_ = s.file.Close() // it may be closed, and removed, already
		_ = os.Remove(s.file.Name())
	}
}

// Done implements [abi.Spill]. The file is forced to the disk when it gets its name.
func (s *spill) Done() (*abi.Spilled, error) {
	if s.discarded {
		return nil, errDiscarded
	}
	if s.failed == nil {
		if err := errors.Join(s.buffered.Flush(), s.file.Close()); err != nil {
			s.fail(err)
		}
	}
	return s.Spilled(s.path()), nil
}

// path is the file, or empty where there is none.
func (s *spill) path() string {
	if s.failed != nil {
		return ""
	}
	return s.file.Name()
}

// Discard implements [abi.Spill].
func (s *spill) Discard() {
	s.discarded = true
	s.remove()
}
