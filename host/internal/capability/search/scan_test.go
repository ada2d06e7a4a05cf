package search

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
)

// moving is an engine whose window moves while it finds nothing, as a guest's memory
// does when it grows.
type moving struct {
	window []byte
	moved  bool
}

func (m *moving) Compile(context.Context, string, pattern.Options) (pattern.Expression, error) {
	return m, nil
}

func (*moving) Facts() pattern.Facts { return pattern.Facts{} }

func (*moving) Close() {}

func (m *moving) Search(context.Context, int) (pattern.Search, error) { return m, nil }

func (m *moving) Window(size int) ([]byte, error) {
	if more := size - len(m.window); more > 0 {
		m.window = append(m.window, make([]byte, more)...)
	}
	return m.window, nil
}

func (m *moving) Find(from, to, _ int) ([]pattern.Span, error) {
	text := m.window[:to]
	if i := bytes.Index(text[from:], []byte("ZZ")); i >= 0 {
		return []pattern.Span{{Start: uint32(from + lineStart(text[from:], i)), End: uint32(lineEnd(text, from+i))}}, nil
	}
	if !m.moved {
		m.moved, m.window = true, bytes.Clone(m.window)
	}
	return nil, nil
}

// TestWindowMoves goes on in the window where it is by then.
func TestWindowMoves(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("some line\n", 60_000) + "ZZ\n"
	m, err := compile(t.Context(), &moving{}, "Z+", pattern.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &found{path: "f"}
	plan := &contentsPlan{matcher: m, mode: abi.ModeCount, need: 100}
	if err := scanFile(t.Context(), plan, strings.NewReader(text), int64(len(text)), out); err != nil || string(out.text) != "f:1\n" {
		t.Errorf("%q, %v", out.text, err)
	}
}
