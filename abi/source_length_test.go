package abi_test

import (
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// answers are bodies of capability calls by their handles, each of which can be
// opened once.
type answers struct {
	bodies map[uint32]string
	spare  bool // whether they say how much will come
	open   int
}

// counted is a body whose closing is counted.
type counted struct {
	sized
	of *answers
}

// Close counts.
func (c counted) Close() error {
	c.of.open--
	return nil
}

func (a *answers) opener(handle uint32) (io.ReadCloser, error) {
	text, ok := a.bodies[handle]
	if !ok {
		return nil, abi.Errorf(abi.CodeProtocol, "handle %d was never given", handle)
	}
	delete(a.bodies, handle)
	a.open++
	left := int64(len(text))
	if a.spare {
		left = noSize
	}
	return counted{sized{strings.NewReader(text), left}, a}, nil
}

// TestDecodePieces: sources with a length take an answer piece by piece, over all
// blocks, and every answer is closed at the end.
func TestDecodePieces(t *testing.T) {
	t.Parallel()
	const image = `{"type":"image","media_type":"image/png","source":`
	const text = `{"type":"text","source":`
	long := strings.Repeat("x", abi.SpillOver)
	for name, c := range map[string]struct {
		content string
		bodies  []string // by handles 1, 2 ...
		want    []string
		code    abi.Code
	}{
		"block by block":     {content: text + `[{"handle":1,"length":2}]},` + image + `[{"handle":1,"length":3}]},` + text + `[{"handle":1}]}`, bodies: []string{"abcdefgh"}, want: []string{"ab", "cde", "fgh"}},
		"in one block":       {content: text + `[{"handle":1,"length":2},{"part":0},{"handle":1,"length":2}]}`, bodies: []string{"abcdef"}, want: []string{"ab|cd"}},
		"the rest is left":   {content: text + `[{"handle":1,"length":2}]}`, bodies: []string{"abcdef"}, want: []string{"ab"}},
		"two answers":        {content: text + `[{"handle":1,"length":1},{"handle":2,"length":1},{"handle":1},{"handle":2}]}`, bodies: []string{"ab", "cd"}, want: []string{"acbd"}},
		"more than there is": {content: text + `[{"handle":1,"length":9}]},` + text + `[{"handle":1,"length":9}]},` + text + `[{"handle":1}]}`, bodies: []string{"ab"}, want: []string{"ab", "", ""}},
		"a long one spills":  {content: text + `[{"handle":1,"length":1}]},` + text + `[{"handle":1,"length":1048580}]},` + text + `[{"handle":1}]}`, bodies: []string{"a" + long + long + "z"}, want: []string{"a", (long + long)[:1048580], (long + long)[1048580:] + "z"}},
		"after the rest":     {content: text + `[{"handle":1}]},` + text + `[{"handle":1,"length":1}]}`, bodies: []string{"ab"}, code: abi.CodeProtocol},
		"negative":           {content: text + `[{"handle":1,"length":-1}]}`, bodies: []string{"ab"}, code: abi.CodeProtocol},
		"with a part":        {content: text + `[{"part":0,"length":1}]}`, code: abi.CodeProtocol},
		"with a part beside": {content: text + `[{"part":0,"length":1},{"part":0}]}`, code: abi.CodeProtocol},
		"no such handle":     {content: text + `[{"handle":1,"length":1}]},` + text + `[{"handle":7,"length":1}]}`, bodies: []string{"ab"}, code: abi.CodeProtocol},
		"cut in a character": {content: text + `[{"handle":1,"length":1}]}`, bodies: []string{"é"}, code: abi.CodeNotText},
	} {
		for _, spare := range []bool{false, true} {
			a := &answers{bodies: make(map[uint32]string), spare: spare}
			for i, body := range c.bodies {
				a.bodies[uint32(i+1)] = body
			}
			var places []*place
			decoder := abi.ResultDecoder{Limit: 4 * abi.SpillOver, Open: a.opener, Spill: func() (abi.Spill, error) {
				places = append(places, newPlace())
				return places[len(places)-1], nil
			}}
			r, err := decoder.Decode(resultFrame(t, `{"content":[`+c.content+`]}`, "|"))
			if a.open != 0 {
				t.Errorf("%s: %d answers are open at the end", name, a.open)
			}
			if c.code != "" {
				wantCode(t, err, c.code)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, want := range c.want {
				got := r.Content[i].Text + string(r.Content[i].Data)
				if r.Content[i].Spilled != nil {
					got, places = places[0].text.String(), places[1:]
				}
				if got != want {
					t.Errorf("%s: block %d has %d bytes, %.20q; want %d, %.20q", name, i, len(got), got, len(want), want)
				}
			}
		}
	}
}
