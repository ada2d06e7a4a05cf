package tasks

import (
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

const (
	// MaxPiece is how much of an output one read returns at most, in bytes. It fits into
	// a tool's result, of 50,000 characters, with what else that says: what is read counts
	// as shown, so the result must not be cut to a preview.
	MaxPiece = 32 << 10
	// MaxScan is how much of it one read with a filter goes through, at most.
	MaxScan = 16 << 20
)

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

func givenUp(ctx context.Context) error {
	return abi.Errorf(abi.CodeOfEnd(ctx), "waiting for a background task was given up: %w", context.Cause(ctx))
}
