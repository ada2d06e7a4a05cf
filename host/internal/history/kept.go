package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toolquay/toolquay/host/internal/ondisk"
)

// put sees to it that a content is kept, with its record or before it. What is kept of it
// already is not trusted, as it may have been damaged since: it must be what would be
// written now. That takes no more than reading what is compressed, where unpacking and
// hashing takes ten times as long. What is not equal is written anew, at once, also where
// only another version of the compressor wrote it.
func (s *Store) put(l *line, p *packed) error {
	at, known := s.index.places[p.content.Hash]
	isFile := known && at.length == 0
	switch {
	case known && s.holds(at, p):
		return nil
	case !isFile && p.file == "" && len(p.held) <= maxInline:
		l.Inline = p.held
		return nil
	}
	size, err := p.save(s.dir)
	if err == nil {
		s.index.saved(p.content.Hash, size)
	}
	return err
}

// holds reports whether what is kept at a place is what p would be kept as.
func (s *Store) holds(at place, p *packed) bool {
	if at.length > 0 {
		held, err := inline(s.dir, p.content.Hash, at)
		return err == nil && bytes.Equal(held, p.held)
	}
	kept, err := os.Open(blobPath(s.dir, p.content.Hash))
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

// Content reads what a file was. It is held to its hash: reading ends with an error
// that is [ErrNotKept] where it is damaged, as Content does where it is not there.
func (s *Store) Content(c *Content) (io.ReadCloser, error) {
	at, err := s.find(c.Hash)
	if err != nil {
		return nil, err
	}
	if at.length > 0 {
		held, err := inline(s.dir, c.Hash, at)
		if err != nil {
			return nil, err
		}
		return unpack(io.NopCloser(bytes.NewReader(held)), c), nil
	}
	f, err := os.Open(blobPath(s.dir, c.Hash))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return unpack(f, c), nil
}

// find looks up where a content is now: another process may have let it go.
func (s *Store) find(hash string) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return place{}, fmt.Errorf("reading the history: %w", err)
	}
	at, ok := s.index.places[hash]
	if !ok {
		return place{}, ErrNotKept
	}
	return at, nil
}

// kept reports whether a content can be read.
func (s *Store) kept(c *Content) bool {
	r, err := s.Content(c)
	if err != nil {
		return false
	}
	return r.Close() == nil
}

// whole reports whether a content can be read to its end, as what it was.
func (s *Store) whole(ctx context.Context, c *Content) bool {
	r, err := s.Content(c)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, ondisk.Cancellable(ctx, r))
	return errors.Join(err, r.Close()) == nil
}
