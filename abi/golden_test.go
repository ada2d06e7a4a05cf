package abi_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

var update = flag.Bool("update", false, "rewrite the golden vectors under testdata")

// vector is one golden frame as <name>.json describes it. testdata/README.md
// explains the keys.
type vector struct {
	About    string                 `json:"about"`
	Message  string                 `json:"message"`
	Head     json.RawMessage        `json:"head,omitempty"`
	HeadText string                 `json:"head_text,omitempty"`
	Parts    []vectorPart           `json:"parts,omitempty"`
	ToEnd    bool                   `json:"to_end,omitempty"`
	Handles  map[string]vectorBytes `json:"handles,omitempty"`
	Result   *vectorResult          `json:"result,omitempty"`
	Error    abi.Code               `json:"error,omitempty"`

	// raw are the bytes of a vector that no writer would write.
	raw []byte
}

type vectorBytes struct {
	Text string `json:"text,omitempty"`
	Hex  string `json:"hex,omitempty"`
}

type vectorPart struct {
	Type string `json:"type"`
	vectorBytes
	Repeat int `json:"repeat,omitempty"`
}

type vectorResult struct {
	Content    []vectorBlock   `json:"content"`
	Structured json.RawMessage `json:"structured,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
	Error      *abi.Error      `json:"error,omitempty"`
	Changes    []abi.Change    `json:"changes,omitempty"`
	Messages   []abi.Message   `json:"messages,omitempty"`
	Meta       json.RawMessage `json:"meta,omitempty"`
}

type vectorBlock struct {
	Type abi.BlockType `json:"type"`
	vectorBytes
	MediaType string `json:"media_type,omitempty"`
	Title     string `json:"title,omitempty"`
	ToolName  string `json:"tool_name,omitempty"`
}

var partNames = map[string]abi.PartType{"bytes": abi.PartBytes, "text": abi.PartText, "json": abi.PartJSON}

func (b vectorBytes) bytes(t *testing.T) []byte {
	t.Helper()
	if b.Hex == "" {
		return []byte(b.Text)
	}
	raw, err := hex.DecodeString(b.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// frame builds the message the description speaks of.
func (v vector) frame(t *testing.T) abi.Frame {
	t.Helper()
	f := abi.Frame{Head: v.Head}
	for _, p := range v.Parts {
		for range max(p.Repeat, 1) {
			f.Parts = append(f.Parts, abi.Part{Type: partNames[p.Type], Data: p.bytes(t)})
		}
	}
	return f
}

// encode returns the exact bytes of the vector.
func (v vector) encode(t *testing.T) []byte {
	t.Helper()
	if v.raw != nil {
		return v.raw
	}
	f := v.frame(t)
	b, err := f.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.ToEnd {
		last := f.Parts[len(f.Parts)-1]
		at := len(b) - len(last.Data) - 4
		copy(b[at:], []byte{0xff, 0xff, 0xff, 0xff})
	}
	return b
}

// compactJSON encodes v as the wire has it: struct order, nothing escaped that
// need not be.
func compactJSON(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func writeJSON(t *testing.T, file string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, b.Bytes())
}

func writeFile(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(tb testing.TB, file string) []byte {
	tb.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return reflect.DeepEqual(x, y)
}

// golden checks that dir holds exactly the vectors, or writes them.
func golden(t *testing.T, dir string, vectors map[string]vector) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, v := range vectors {
			writeJSON(t, filepath.Join(dir, name+".json"), v)
			writeFile(t, filepath.Join(dir, name+".bin"), v.encode(t))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2*len(vectors) {
		t.Errorf("%s holds %d files, want %d; run the test with -update", dir, len(files), 2*len(vectors))
	}
	for name, v := range vectors {
		if got := readFile(t, filepath.Join(dir, name+".bin")); !bytes.Equal(got, v.encode(t)) {
			t.Errorf("%s.bin differs from what is encoded; run the test with -update and look at the change", name)
		}
	}
}

func TestGoldenValid(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "valid")
	golden(t, dir, validVectors(t))
	for name := range validVectors(t) {
		t.Run(name, func(t *testing.T) {
			var v vector
			if err := json.Unmarshal(readFile(t, filepath.Join(dir, name+".json")), &v); err != nil {
				t.Fatal(err)
			}
			b := readFile(t, filepath.Join(dir, name+".bin"))
			f, err := abi.DecodeFrame(b)
			if err != nil {
				t.Fatal(err)
			}
			checkFrame(t, f, v)
			checkMessage(t, b, v)
		})
	}
}

func checkFrame(t *testing.T, f abi.Frame, v vector) {
	t.Helper()
	if !sameJSON(t, f.Head, v.Head) {
		t.Errorf("head\n got %s\nwant %s", f.Head, v.Head)
	}
	want := v.frame(t).Parts
	if len(f.Parts) != len(want) {
		t.Fatalf("%d parts, want %d", len(f.Parts), len(want))
	}
	for i, p := range f.Parts {
		if p.Type != want[i].Type || !bytes.Equal(p.Data, want[i].Data) {
			t.Errorf("part %d: type %d %q, want type %d %q", i, p.Type, p.Data, want[i].Type, want[i].Data)
		}
	}
}

func TestGoldenInvalid(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "invalid")
	golden(t, dir, invalidVectors(t))
	for name, v := range invalidVectors(t) {
		t.Run(name, func(t *testing.T) {
			b := readFile(t, filepath.Join(dir, name+".bin"))
			_, err := abi.DecodeFrame(b)
			if v.Message == "frame" {
				wantCode(t, err, v.Error)
				return
			}
			if err != nil {
				t.Fatalf("the framing is refused already: %v", err)
			}
			_, err = decodeMessage(b, v.Message, nil)
			wantCode(t, err, v.Error)
		})
	}
}

func wantCode(t *testing.T, err error, code abi.Code) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want code %q", code)
	}
	if got := abi.CodeOf(err); got != code {
		t.Errorf("code %q, want %q: %v", got, code, err)
	}
	if strings.TrimSpace(err.Error()) == "" {
		t.Error("an error without a text")
	}
}
