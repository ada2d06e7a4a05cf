package wire_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/sdk/go/wire"
)

const vectors = "../../../abi/testdata"

// vector is one golden file of the ABI.
type vector struct {
	About   string          `json:"about"`
	Message string          `json:"message"`
	Head    json.RawMessage `json:"head"`
	Parts   []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Hex    string `json:"hex"`
		Repeat int    `json:"repeat"`
	} `json:"parts"`
	ToEnd bool      `json:"to_end"`
	Error wire.Code `json:"error"`
}

func (v vector) parts(t *testing.T) []wire.Part {
	t.Helper()
	types := map[string]wire.PartType{"bytes": wire.PartBytes, "text": wire.PartText, "json": wire.PartJSON}
	var parts []wire.Part
	for _, p := range v.Parts {
		data := []byte(p.Text)
		if p.Hex != "" {
			var err error
			if data, err = hex.DecodeString(p.Hex); err != nil {
				t.Fatal(err)
			}
		}
		for range max(p.Repeat, 1) {
			parts = append(parts, wire.Part{Type: types[p.Type], Data: data})
		}
	}
	return parts
}

// codec is what every wire type has.
type codec interface {
	AppendJSON(dst []byte) []byte
	DecodeJSON(d *wire.Decoder)
}

func headOf(message string) codec {
	switch message {
	case "call":
		return new(wire.CallHead)
	case "result":
		return new(wire.ResultHead)
	case "request":
		return new(wire.RequestHead)
	case "answer":
		return new(wire.AnswerHead)
	case "progress":
		return new(wire.ProgressHead)
	case "assess":
		return new(wire.AssessHead)
	case "assessment":
		return new(wire.Assessment)
	}
	return nil
}

func eachVector(t *testing.T, dir string, check func(t *testing.T, v vector, b []byte)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(vectors, dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden vectors in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var v vector
			text, err := os.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(text, &v)
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".bin")
			if err != nil {
				t.Fatal(err)
			}
			check(t, v, b)
		})
	}
}

func TestGoldenValid(t *testing.T) {
	eachVector(t, "valid", func(t *testing.T, v vector, b []byte) {
		t.Helper()
		f, err := wire.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, f.Head, v.Head) {
			t.Errorf("head is %s, want %s", f.Head, v.Head)
		}
		if want := v.parts(t); len(want)+len(f.Parts) > 0 && !reflect.DeepEqual(normal(f.Parts), normal(want)) {
			t.Errorf("parts are %v, want %v", f.Parts, want)
		}
		head := headOf(v.Message)
		if head == nil {
			return
		}
		if err := wire.Unmarshal(f.Head, head); err != nil {
			t.Fatalf("reading the head: %v", err)
		}
		if strings.Contains(v.About, "does not know") || strings.Contains(t.Name(), "unknown_keys") {
			return // what was skipped cannot be written again
		}
		again := head.AppendJSON(nil)
		if !sameJSON(t, again, v.Head) {
			t.Errorf("writing the head again gives %s, want %s", again, v.Head)
		}
		if message, err := wire.Append(nil, head.AppendJSON, f.Parts...); err != nil || !v.ToEnd && v.Message != "frame" && !bytes.Equal(message, b) {
			t.Errorf("writing the message again gives %q (%v), want %q", message, err, b)
		}
	})
}

func TestGoldenInvalid(t *testing.T) {
	eachVector(t, "invalid", func(t *testing.T, v vector, b []byte) {
		t.Helper()
		var err error
		switch v.Message {
		case "frame":
			_, err = wire.Decode(b)
		case "call":
			_, _, err = wire.DecodeCall(b)
		case "assess":
			_, _, err = wire.DecodeAssess(b)
		case "answer":
			var f wire.Frame
			if f, err = wire.Decode(b); err == nil {
				_, _, err = wire.DecodeAnswerHead(f.Head)
			}
		default:
			// Messages that a guest sends and never reads have a sound frame.
			if _, err := wire.Decode(b); err != nil {
				t.Errorf("the framing was refused: %v", err)
			}
			return
		}
		var coded *wire.Error
		if !errors.As(err, &coded) || coded.Code != v.Error {
			t.Errorf("%s: got %v, want an error of code %s", v.About, err, v.Error)
		}
	})
}

func normal(parts []wire.Part) []wire.Part {
	out := make([]wire.Part, len(parts))
	for i, p := range parts {
		out[i] = wire.Part{Type: p.Type, Data: append([]byte{}, p.Data...)}
	}
	return out
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reflect.DeepEqual(parsed(t, a), parsed(t, b))
}

func parsed(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return v
}
