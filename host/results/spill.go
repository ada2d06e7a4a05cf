package results

import (
	"bufio"
	"errors"
	"os"

	"github.com/toolquay/toolquay/abi"
)

// Dir is the directory of the session's folder that results lie in.
const Dir = "tool-results"

// errNoFolder is that of a session without a place to keep anything.
var errNoFolder = errors.New("the session has no folder")

// Spill makes a place for one text that is too long to hold, in the session's
// folder. Its file becomes the result's when [Keeper.Fit] is given what Done
// returns; a file that Fit is never given goes with the session's end.
func (k *Keeper) Spill() (abi.Spill, error) {
	if k.folder == nil {
		return nil, errNoFolder
	}
	file, err := k.folder.Temp(Dir)
	if err != nil {
		return nil, err
	}
	s := &spill{file: file, buffered: bufio.NewWriterSize(file, spillBuffer)}
	s.SpillWriter = abi.NewSpillWriter(s.buffered)
	return s, nil
}

// spillBuffer is how much is written at a time, in bytes.
const spillBuffer = 64 << 10

// spill is a text on its way into a file.
type spill struct {
	*abi.SpillWriter
	file     *os.File
	buffered *bufio.Writer
}

// Done implements [abi.Spill]. The file is forced to the disk when it gets its name.
func (s *spill) Done() (*abi.Spilled, error) {
	if err := errors.Join(s.buffered.Flush(), s.file.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(s.file.Name()))
	}
	return s.Spilled(s.file.Name()), nil
}

// Discard implements [abi.Spill].
func (s *spill) Discard() {
	_ = s.file.Close() // it may be closed, and removed, already
	_ = os.Remove(s.file.Name())
}
