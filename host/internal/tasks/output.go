package tasks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/privatedir"
)

// errCut is that an output has less than was read of it.
var errCut = &abi.Error{Code: abi.CodeChanged}

// readOutput reads the next piece of an output.
func readOutput(ctx context.Context, out *capability.TaskText, filter *regexp.Regexp) error {
	t := &out.Task
	if t.Output == "" {
		return nil
	}
	f, info, err := privatedir.OpenRegular(t.Output, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return abi.Errorf(abi.CodeIO, "the output of task %s (%s) is gone: somebody removed %s", t.ID, t.State, t.Output)
	}
	if err != nil {
		return abi.Errorf(abi.CodeIO, "reading the output of task %s (%s): %w", t.ID, t.State, err)
	}
	defer f.Close()
	if t.Bytes = info.Size(); t.Bytes < out.From {
		out.To = 0
		return abi.Errorf(abi.CodeChanged, "the output of task %s (%s) was cut: of %s there are %d bytes, and %d were read before; the next read begins with the first",
			t.ID, t.State, t.Output, t.Bytes, out.From)
	}
	s := scan{src: f, most: MaxPiece, at: out.From, size: t.Bytes, final: t.Over()}
	if filter == nil {
		err = s.take(ctx)
	} else {
		err = s.filter(ctx, filter)
	}
	if err != nil {
		return err
	}
	out.Text, out.To, out.Skipped = s.text, s.at, s.skipped
	return nil
}
