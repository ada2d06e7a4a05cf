package abi_test

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// FuzzDecodeProgress: whatever a guest reports is refused, or bounded and the same
// when it is told again.
func FuzzDecodeProgress(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := abi.DecodeProgress(b)
		if err != nil {
			if abi.CodeOf(err) != abi.CodeProtocol {
				t.Fatalf("%v has the code %q", err, abi.CodeOf(err))
			}
			return
		}
		if p.Progress == nil && p.Log == nil {
			t.Fatal("it reports nothing")
		}
		if p.Progress != nil && (len(p.Progress.Output) > abi.MaxOutput || !utf8.ValidString(p.Progress.Output)) {
			t.Fatalf("%d bytes of output", len(p.Progress.Output))
		}
		again, err := abi.EncodeProgress(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := abi.DecodeProgress(again); err != nil || !reflect.DeepEqual(second, p) {
			t.Fatalf("%+v becomes %+v, %v", p, second, err)
		}
	})
}

// FuzzDecodeAssessment: likewise for what a guest says of a call.
func FuzzDecodeAssessment(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := abi.DecodeAssessment(b)
		if err != nil {
			if abi.CodeOf(err) != abi.CodeProtocol {
				t.Fatalf("%v has the code %q", err, abi.CodeOf(err))
			}
			return
		}
		for i, touch := range a.Touches {
			if touch.Path == "" || i >= abi.MaxTouches {
				t.Fatalf("it touches %+v", a.Touches)
			}
		}
		again, err := abi.EncodeAssessment(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		second, err := abi.DecodeAssessment(again)
		if len(a.Touches) == 0 {
			a.Touches = nil // [] and nothing are the same
		}
		if err != nil || !reflect.DeepEqual(second, a) {
			t.Fatalf("%+v becomes %+v, %v", a, second, err)
		}
	})
}

// FuzzDecodeSpills holds a result that is spilled to the same one that is not. Of
// what is spilled there is as much as was said, and nothing is left of a failure.
func FuzzDecodeSpills(f *testing.F) {
	addVectors(f)
	f.Add(resultFrame(f, `{"content":[{"type":"text","source":[{"part":0},{"handle":5000},{"part":0}]}]}`, "|"))
	f.Add(resultFrame(f, `{"content":[{"type":"text","source":[{"handle":9}]},{"type":"text","source":[{"handle":9}]},{"type":"text","source":[{"part":7}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, limit := range []int64{8, 100, 4096} {
			checkSpills(t, b, limit)
		}
	})
}

// lotsOf opens as many bytes as the handle's number says.
func lotsOf(handle uint32) (io.ReadCloser, error) {
	return sized{strings.NewReader(strings.Repeat("h", int(min(handle, 8192)))), noSize}, nil
}

func checkSpills(t *testing.T, b []byte, limit int64) {
	t.Helper()
	var places []*place
	decoder := abi.ResultDecoder{Limit: limit, Open: lotsOf, Spill: func() (abi.Spill, error) {
		places = append(places, newPlace())
		return places[len(places)-1], nil
	}}
	r, err := decoder.Decode(b)
	for _, p := range places {
		if err == nil && (p.done != 1 || p.discarded != 0) || err != nil && p.discarded != 1 {
			t.Fatalf("%v: a text was done %d times and discarded %d times", err, p.done, p.discarded)
		}
	}
	if err != nil {
		if !abi.CodeOf(err).Known() {
			t.Fatalf("%v has the code %q", err, abi.CodeOf(err))
		}
		return
	}
	held, err := abi.DecodeResult(b, 1<<30, lotsOf)
	if err != nil {
		if abi.CodeOf(err) != abi.CodeNotText { // nobody looks at what is spilled
			t.Fatalf("it fits into %d bytes and spills, and not into memory: %v", limit, err)
		}
		return
	}
	for i, block := range r.Content {
		text, want := block.Text, held.Content[i]
		if block.Spilled != nil {
			text, places = places[0].text.String(), places[1:]
		}
		if text != want.Text || !bytes.Equal(block.Data, want.Data) {
			t.Fatalf("block %d has %d bytes, want %d", i, len(text), len(want.Text))
		}
	}
}
