package tasks

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/privatedir"
)

const (
	// MaxPiece is how much of an output one read returns at most, in bytes. It fits into
	// a tool's result, of 50,000 characters, with what else that says: what is read counts
	// as shown, so the result must not be cut to a preview.
	MaxPiece = 32 << 10
	// MaxScan is how much of it one read with a filter goes through, at most.
	MaxScan = 16 << 20
)

// Read reads on in a task's output; see [capability.Tasks]. A piece ends with a whole
// code point, and with a filter with a whole line, as long as there may be more to come:
// what a running task has written half is left for the next read.
func (r *Registry) Read(ctx context.Context, id string, want capability.TaskRead) (capability.TaskText, error) {
	t, err := r.find(id)
	if err != nil {
		return capability.TaskText{}, err
	}
	select {
	case t.reading <- struct{}{}:
		defer func() { <-t.reading }()
	case <-ctx.Done():
		return capability.TaskText{}, givenUp(ctx)
	}
	// The task first and then its output: of one that has ended all of it is there.
	out := capability.TaskText{Task: r.look(t)}
	out.From, out.To = out.Task.Shown, out.Task.Shown
	err = readOutput(ctx, &out, want.Filter)
	if !want.Peek && (err == nil || errors.Is(err, errCut)) {
		r.show(t, &out)
	}
	return out, err
}

// show notes what the model was shown.
func (r *Registry) show(t *task, out *capability.TaskText) {
	r.mu.Lock()
	further := t.info.Shown != out.To
	t.info.Shown = out.To
	ends := out.Task.Over() && !t.told
	t.told = t.told || ends
	r.mu.Unlock()
	var records []sessiondir.Record
	if further {
		records = append(records, sessiondir.Record{Kind: recordShown, Data: shown{t.info.ID, out.To}})
	}
	if ends {
		records = append(records, sessiondir.Record{Kind: recordTold, Data: told{[]string{t.info.ID}}})
	}
	if len(records) > 0 {
		r.keepIfItCan(records...)
	}
}

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

// scan goes through an output.
type scan struct {
	src io.ReaderAt
	// most is how much it takes.
	most int64
	// at is where it is, and size where the output ends; final says that it stays so.
	at, size int64
	final    bool
	text     []byte
	skipped  int64
}

// fill reads what comes next into a buffer.
func (s *scan) fill(ctx context.Context, buf []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, givenUp(ctx)
	}
	n, err := s.src.ReadAt(buf[:min(int64(len(buf)), s.size-s.at)], s.at)
	if err != nil && !errors.Is(err, io.EOF) { // it was cut just now: the next read says so
		return nil, abi.Errorf(abi.CodeIO, "reading the output of a task: %w", err)
	}
	return buf[:n], nil
}

// take takes what comes next.
func (s *scan) take(ctx context.Context) error {
	piece, err := s.fill(ctx, make([]byte, min(s.most, s.size-s.at)))
	if err != nil {
		return err
	}
	if !s.final || s.at+int64(len(piece)) < s.size {
		piece = wholeRunes(piece)
	}
	s.text = piece
	s.at += int64(len(piece))
	return nil
}

// wholeRunes is a text without the beginning of a code point at its end.
func wholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		last := text[len(text)-n:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
