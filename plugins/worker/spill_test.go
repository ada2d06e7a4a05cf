package worker

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestSpillViolations has workers that break the rules for texts in pieces.
func TestSpillViolations(t *testing.T) {
	for name, test := range map[string]struct {
		sent [][]byte
		none bool
		says string
	}{
		"none are taken":    {[][]byte{sentPiece(1, "x")}, true, "where the host takes none"},
		"number 0":          {[][]byte{sentPiece(0, "x")}, false, "numbered a text 0 after 0"},
		"a number left out": {[][]byte{sentPiece(1, "x"), sentPiece(3, "x")}, false, "numbered a text 3 after 1"},
		"side by side":      {[][]byte{sentPiece(1, "x"), sentPiece(2, "x")}, false, "text 2 in the middle of the text before"},
		"too many":          {many(maxTexts + 1), false, "more than 64 texts"},
		"nothing":           {[][]byte{sentPiece(1, "")}, false, "a piece of nothing"},
		"after the end":     {[][]byte{ending(sentPiece(1, "x")), sentPiece(1, "x")}, false, "went on with the text 1"},
		"after nothing":     {[][]byte{ending(sentPiece(1, "")), ending(sentPiece(1, ""))}, false, "went on with the text 1"},
		"too long a piece":  {[][]byte{sentPiece(1, strings.Repeat("x", chunk+1))}, false, "at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := heard(t, bytes.Join(test.sent, nil), !test.none)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func sentPiece(id uint32, text string) []byte { return sent(kindSpill, 1, id, text) }

// many are so many texts of a byte, one after the other.
func many(texts int) (sent [][]byte) {
	for id := range uint32(texts) {
		sent = append(sent, ending(sentPiece(id+1, "x")))
	}
	return sent
}

// TestSpillAhead has a worker that sends on while the host cannot write.
func TestSpillAhead(t *testing.T) {
	c := &call{id: 1, message: newMessage(kindCall, 1, 0, 0)}
	c.enter(t.Context())
	writing := make(chan struct{})
	c.texts.make = func() (abi.Spill, error) {
		<-writing
		return nil, abi.Errorf(abi.CodeIO, "it was all in vain")
	}
	p := &process{out: writer{file: devNull(t)}}
	h := header{kind: kindSpill, call: 1, request: 1}
	var err error
	sent := 0
	for ; err == nil && sent <= 2*maxPieces; sent++ {
		err = c.texts.piece(c, p, h, []byte("x"))
	}
	if err == nil || !strings.Contains(err.Error(), "8 pieces of a text ahead") {
		t.Errorf("after %d pieces: %v", sent, err)
	}
	close(writing)
	c.end()
	if text := c.texts.list[0].await(); text != nil {
		t.Errorf("got %+v", text)
	}
}

// TestResultContradictsSpills has results that name other texts than came.
func TestResultContradictsSpills(t *testing.T) {
	message, err := abi.EncodeResult(nil, abi.ToolResult{Content: []abi.Block{abi.TextBlock(""), {Type: abi.BlockToolReference, ToolName: "X"}, abi.TextBlock("")}})
	if err != nil {
		t.Fatal(err)
	}
	payload := func(numbers ...uint32) []byte {
		var b []byte
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return append(b, message...)
	}
	for name, test := range map[string]struct {
		texts   int
		payload []byte
		fits    bool
	}{
		"none":              {0, payload(0), true},
		"two":               {2, payload(2, 0, 2), true},
		"one left out":      {2, payload(1, 0), false},
		"one too many":      {1, payload(2, 0, 2), false},
		"one twice":         {2, payload(2, 2, 2), false},
		"in another order":  {2, payload(2, 2, 0), false},
		"no text":           {1, payload(1, 1), false},
		"no block":          {1, payload(1, 3), false},
		"far away":          {1, payload(1, 0xffffffff), false},
		"nothing at all":    {1, nil, false},
		"cut in the middle": {2, payload(2, 0, 2)[:10], false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &call{}
			for range test.texts {
				s := &spill{ended: make(chan struct{}), text: &abi.Spilled{Path: "/s"}}
				close(s.ended)
				c.texts.list = append(c.texts.list, s)
			}
			result, err := c.texts.result(test.payload, 1<<10)
			if test.fits != (err == nil) || err != nil && abi.CodeOf(err) != abi.CodeProtocol {
				t.Fatalf("got %v", err)
			}
			spilled := 0
			for _, b := range result.Content {
				if b.Spilled != nil {
					spilled++
				}
			}
			if test.fits && (spilled != test.texts || len(c.texts.list) != 0) {
				t.Errorf("%d texts of %d are spilled, %d are left", spilled, test.texts, len(c.texts.list))
			}
		})
	}
}
