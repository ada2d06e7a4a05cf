package abi_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// place is a spill, and what became of it.
type place struct {
	*abi.SpillWriter
	text            strings.Builder
	done, discarded int
	fails           error
}

func newPlace() *place {
	p := &place{}
	p.SpillWriter = abi.NewSpillWriter(&p.text)
	return p
}

// Done is counted.
func (p *place) Done() (*abi.Spilled, error) {
	p.done++
	return p.Spilled("/s"), p.fails
}

// Discard is counted.
func (p *place) Discard() { p.discarded++ }

// sized is a body that says how much will come, and perhaps lies.
type sized struct {
	io.Reader
	left int64
}

// Left says it.
func (s sized) Left() int64 { return s.left }

// Close does nothing.
func (sized) Close() error { return nil }

// noSize is a left of a body that does not say.
const noSize = -1

func resultFrame(tb testing.TB, head string, parts ...string) []byte {
	tb.Helper()
	f := abi.Frame{Head: json.RawMessage(head)}
	for _, p := range parts {
		f.Parts = append(f.Parts, abi.Part{Type: abi.PartText, Data: []byte(p)})
	}
	b, err := f.Append(nil)
	fatal(tb, err)
	return b
}

func TestDecodeSpills(t *testing.T) {
	t.Parallel()
	const over = abi.SpillOver
	text := func(sources string) string { return `{"content":[{"type":"text","source":[` + sources + `]}]}` }
	long := strings.Repeat("x", over)
	for name, c := range map[string]struct {
		head  string
		body  string
		says  int64 // how much will come, where that is not how much does
		limit int64
		parts []string
		want  string
		held  bool
		code  abi.Code
	}{
		"as much as is held":      {head: text(`{"handle":1}`), body: long, want: long, held: true},
		"one more":                {head: text(`{"handle":1}`), body: long + "y", want: long + "y"},
		"more than was said":      {head: text(`{"handle":1}`), body: long + "y", says: 10, want: long + "y"},
		"less than was said":      {head: text(`{"handle":1}`), body: "few", says: over + 1, want: "few"},
		"no room in the output":   {head: text(`{"handle":1}`), body: "twelve bytes", limit: 11, want: "twelve bytes"},
		"a part first":            {head: text(`{"part":0},{"handle":1}`), body: long, parts: []string{"<"}, want: "<" + long},
		"a part last":             {head: text(`{"handle":1},{"part":0}`), body: long, parts: []string{">"}, want: long + ">"},
		"twice":                   {head: text(`{"handle":1},{"part":0},{"handle":2}`), body: long, parts: []string{"|"}, want: long + "|" + long},
		"parts alone":             {head: text(`{"part":0},{"part":1}`), parts: []string{long, long}, want: long + long, held: true},
		"a long part and little":  {head: text(`{"part":0},{"handle":1}`), body: "y", parts: []string{long}, want: long + "y"},
		"no UTF-8, short":         {head: text(`{"handle":1}`), body: "\xff", code: abi.CodeNotText},
		"no UTF-8, long":          {head: text(`{"handle":1}`), body: long + "\xff", want: long + "\xff"},
		"parts over the output":   {head: text(`{"handle":1},{"part":0},{"part":0}`), body: long, limit: over, parts: []string{long[1:]}, code: abi.CodeLimit},
		"an image is never":       {head: `{"content":[{"type":"image","media_type":"image/png","source":[{"handle":1}]}]}`, body: long, limit: over - 1, code: abi.CodeLimit},
		"structured is never":     {head: `{"structured":{"handle":1}}`, body: long, limit: over - 1, code: abi.CodeLimit},
		"what comes later fails":  {head: text(`{"handle":1},{"part":7}`), body: long + "y", code: abi.CodeProtocol},
		"the next block fails":    {head: `{"content":[{"type":"text","source":[{"handle":1}]},{"type":"text","source":[{"handle":9}]}]}`, body: long + "y", code: abi.CodeProtocol},
		"structured after it is":  {head: `{"content":[{"type":"text","source":[{"handle":1}]}],"structured":{"part":0}}`, body: long + "y", parts: []string{"x"}, code: abi.CodeProtocol},
		"both kinds at a time":    {head: text(`{"handle":1,"part":0}`), body: long, parts: []string{"x"}, code: abi.CodeProtocol},
		"neither kind beside one": {head: text(`{"handle":1},{}`), body: long, code: abi.CodeProtocol},
	} {
		for _, known := range []bool{true, false} {
			var places []*place
			decoder := abi.ResultDecoder{
				Limit: 4 * over,
				Open: func(handle uint32) (io.ReadCloser, error) {
					if handle == 9 {
						return nil, abi.Errorf(abi.CodeProtocol, "never given")
					}
					left := int64(noSize)
					if known {
						left = int64(len(c.body))
					}
					if c.says > 0 {
						left = c.says
					}
					return sized{strings.NewReader(c.body), left}, nil
				},
				Spill: func() (abi.Spill, error) {
					places = append(places, newPlace())
					return places[len(places)-1], nil
				},
			}
			if c.limit > 0 {
				decoder.Limit = c.limit
			}
			r, err := decoder.Decode(resultFrame(t, c.head, c.parts...))
			if c.code != "" {
				wantCode(t, err, c.code)
				for _, p := range places {
					if p.discarded != 1 {
						t.Errorf("%s: a spill was discarded %d times", name, p.discarded)
					}
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b := r.Content[0]
			if c.held {
				if b.Text != c.want || b.Spilled != nil || len(places) != 0 {
					t.Errorf("%s: got %d bytes and %d spills", name, len(b.Text), len(places))
				}
				continue
			}
			if len(places) != 1 || b.Text != "" || places[0].text.String() != c.want || b.Spilled.Bytes != int64(len(c.want)) {
				t.Fatalf("%s: got %d bytes of text and %d spills", name, len(b.Text), len(places))
			}
			if places[0].done != 1 || places[0].discarded != 0 {
				t.Errorf("%s: done %d times, discarded %d times", name, places[0].done, places[0].discarded)
			}
		}
	}
}

// TestDecodeSpillFails: a spill that cannot be ended is discarded.
func TestDecodeSpillFails(t *testing.T) {
	t.Parallel()
	p := newPlace()
	p.fails = abi.Errorf(abi.CodeIO, "no space left")
	decoder := abi.ResultDecoder{
		Limit: 1,
		Open:  func(uint32) (io.ReadCloser, error) { return abi.Bytes([]byte("long")), nil },
		Spill: func() (abi.Spill, error) { return p, nil },
	}
	_, err := decoder.Decode(resultFrame(t, `{"content":[{"type":"text","source":[{"handle":1}]}]}`))
	wantCode(t, err, abi.CodeIO)
	if p.discarded != 1 {
		t.Errorf("it was discarded %d times", p.discarded)
	}
}

// endless gives bytes for ever, which nobody looks at.
type endless struct{ given int64 }

// Read gives as much as there is room for.
func (e *endless) Read(p []byte) (int, error) {
	e.given += int64(len(p))
	return len(p), nil
}

// Close does nothing.
func (*endless) Close() error { return nil }

// nowhere is a spill that keeps nothing.
type nowhere struct{ discarded bool }

// Write does nothing.
func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }

// Done is never reached.
func (*nowhere) Done() (*abi.Spilled, error) { return nil, errors.New("an endless text is done") }

// Discard is noted.
func (n *nowhere) Discard() { n.discarded = true }

func TestDecodeSpillBound(t *testing.T) {
	t.Parallel()
	body, to := &endless{}, &nowhere{}
	decoder := abi.ResultDecoder{
		Limit: 1 << 20,
		Open:  func(uint32) (io.ReadCloser, error) { return body, nil },
		Spill: func() (abi.Spill, error) { return to, nil },
	}
	_, err := decoder.Decode(resultFrame(t, `{"content":[{"type":"text","source":[{"handle":1}]}]}`))
	wantCode(t, err, abi.CodeLimit)
	if !strings.Contains(err.Error(), "4GiB") || !to.discarded {
		t.Errorf("got %v; discarded: %v", err, to.discarded)
	}
	if over := body.given - abi.MaxSpilled; over < 0 || over > 4<<20 {
		t.Errorf("%d bytes over the bound were read", over)
	}
}
