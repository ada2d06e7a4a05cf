package abi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolquay/toolquay/abi"
)

// closer counts what the reader of an answer does to its body.
type closer struct {
	io.Reader
	closed int
}

func (c *closer) Close() error { c.closed++; return nil }

func TestAnswerReader(t *testing.T) {
	t.Parallel()
	text := "0123456789"
	for name, c := range map[string]struct {
		size      int64
		bodyType  abi.PartType
		wantType  abi.PartType
		wantSize  bool
		want      string
		wantError error
	}{
		"size known":    {10, abi.PartText, abi.PartText, true, text, nil},
		"size unknown":  {-1, 0, abi.PartBytes, false, text, nil},
		"body too long": {4, 0, abi.PartBytes, true, "0123", nil},
		"body short":    {11, 0, abi.PartBytes, true, text, io.ErrUnexpectedEOF},
		"size zero":     {0, abi.PartJSON, abi.PartJSON, true, "", nil},
		"size of 4 GiB": {1 << 32, 0, abi.PartBytes, true, text, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := &closer{Reader: iotest.OneByteReader(strings.NewReader(text))}
			r := abi.NewAnswerReader(abi.Answer{OK: abi.StatOK{Path: "/<a>"}, Body: body, BodyType: c.bodyType, Size: c.size}, nil)
			buffered := r.Buffered()
			got, err := io.ReadAll(iotest.HalfReader(r))
			if !errors.Is(err, c.wantError) {
				t.Fatalf("%v, want %v", err, c.wantError)
			}
			if (r.Size() >= 0) != c.wantSize || c.wantSize && err == nil && r.Size() != int64(len(got)) {
				t.Errorf("size %d of %d bytes", r.Size(), len(got))
			}
			if string(got[buffered:]) != c.want {
				t.Errorf("body %q, want %q", got[buffered:], c.want)
			}
			if err == nil {
				_, parts, err := abi.DecodeAnswer(got)
				if err != nil || len(parts) != 1 || parts[0].Type != c.wantType || string(parts[0].Data) != c.want {
					t.Errorf("%+v, %v", parts, err)
				}
			}
			if err := errors.Join(r.Close(), r.Close()); err != nil || body.closed != 1 {
				t.Errorf("closed %d times, %v", body.closed, err)
			}
		})
	}
}

func TestAnswerReaderErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer abi.Answer
		err    error
		want   abi.Error
	}{
		"refusal":       {abi.Answer{}, abi.Errorf(abi.CodeDenied, "no <b>\x1b"), abi.Error{Code: abi.CodeDenied, Message: "no <b>\x1b"}},
		"without code":  {abi.Answer{}, errors.New("x"), abi.Error{Code: abi.CodeInternal, Message: "x"}},
		"not an object": {abi.Answer{OK: 7}, nil, abi.Error{Code: abi.CodeInternal, Message: "the answer of a capability is a int, which does not encode to a JSON object"}},
		"not encodable": {abi.Answer{OK: func() {}}, nil, abi.Error{Code: abi.CodeInternal, Message: "encoding the answer of a capability: json: unsupported type: func()"}},
		"not UTF-8":     {abi.Answer{}, errors.New("\xff"), abi.Error{Code: abi.CodeInternal, Message: "\ufffd"}},
		"huge":          {abi.Answer{}, errors.New(strings.Repeat("\x01", 1<<20)), abi.Error{Code: abi.CodeInternal, Message: strings.Repeat("\x01", 64<<10) + "..."}},
	} {
		body := &closer{Reader: strings.NewReader("x")}
		c.answer.Body = body
		r := abi.NewAnswerReader(c.answer, c.err)
		b, err := io.ReadAll(r)
		fatal(t, err)
		head, _, err := abi.DecodeAnswer(b)
		if err != nil || !reflect.DeepEqual(*head.Error, c.want) || r.Size() != int64(len(b)) {
			t.Errorf("%s: %+v, %v", name, head.Error, err)
		}
		if err := r.Close(); err != nil || body.closed != 1 {
			t.Errorf("%s: the body was closed %d times, %v", name, body.closed, err)
		}
	}
}

func TestResultLimits(t *testing.T) {
	t.Parallel()
	source := func(n int) string {
		return `{"content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","source":[{"part":0}]},`, n), ",") + `]}`
	}
	frame := func(head string, parts ...abi.Part) []byte {
		b, err := abi.Frame{Head: json.RawMessage(head), Parts: parts}.Append(nil)
		fatal(t, err)
		return b
	}
	big := abi.Part{Type: abi.PartText, Data: bytes.Repeat([]byte("x"), 1000)}
	many := func(key, item string, n int) string {
		return `{"` + key + `":[` + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + `]}`
	}
	for name, c := range map[string]struct {
		frame []byte
		want  abi.Code
	}{
		"just as much as allowed":      {frame(source(10), big), ""},
		"one part named too often":     {frame(source(11), big), abi.CodeLimit},
		"too many blocks":              {frame(source(abi.MaxBlocks + 1)), abi.CodeProtocol},
		"too many changes":             {frame(many("changes", `{"kind":"cwd","value":"/"}`, abi.MaxChanges+1)), abi.CodeProtocol},
		"too many messages":            {frame(many("messages", `{"role":"user","text":""}`, abi.MaxMessages+1)), abi.CodeProtocol},
		"a change without a value":     {frame(`{"changes":[{"kind":"cwd"}]}`), abi.CodeProtocol},
		"a handle over what is left":   {frame(`{"content":[{"type":"text","source":[{"handle":1}]}]}`), abi.CodeLimit},
		"a handle of binary":           {frame(`{"content":[{"type":"text","source":[{"handle":2}]}]}`), abi.CodeNotText},
		"a handle of binary, in image": {frame(`{"content":[{"type":"image","media_type":"image/png","source":[{"handle":2}]}]}`), ""},
	} {
		_, err := abi.DecodeResult(c.frame, 10_000, func(handle uint32) (io.ReadCloser, error) {
			if handle == 1 {
				return abi.Bytes(make([]byte, 10_001)), nil
			}
			return abi.Bytes([]byte{0xff}), nil
		})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "":
			wantCode(t, err, c.want)
		}
	}
}

// TestReportBounds: what a guest reports is bounded; of output the end is kept.
func TestReportBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", abi.MaxReportText+1)
	for name, p := range map[string]abi.ProgressHead{
		"message": {Progress: &abi.Progress{Message: long}},
		"log":     {Log: &abi.Log{Level: "info", Message: long}},
	} {
		b, err := abi.EncodeProgress(nil, p)
		fatal(t, err)
		if _, err = abi.DecodeProgress(b); err == nil || !strings.Contains(err.Error(), "limit of 65536") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct{ output, want string }{
		"just fits":       {long[1:], long[1:]},
		"one too many":    {"ä" + long[2:], long[2:]},
		"cut between":     {"ab" + long[1:], long[1:]},
		"cut in four":     {"🦀" + long[2:], long[2:]},
		"controls":        {strings.Repeat("\x1b", abi.MaxOutput), strings.Repeat("\x1b", abi.MaxOutput)},
		"controls, later": {"lost" + strings.Repeat("\x1b", abi.MaxOutput), strings.Repeat("\x1b", abi.MaxOutput)},
	} {
		b, err := abi.EncodeProgress(nil, abi.ProgressHead{Progress: &abi.Progress{Output: c.output}})
		fatal(t, err)
		if len(b) > abi.MaxReport {
			t.Errorf("%s: the message has %d bytes", name, len(b))
		}
		p, err := abi.DecodeProgress(b)
		if err != nil || p.Progress.Output != c.want {
			t.Errorf("%s: %d bytes become %d, %v", name, len(c.output), len(p.Progress.Output), err)
		}
	}
}

func TestTouchBounds(t *testing.T) {
	t.Parallel()
	most := make([]abi.Touch, abi.MaxTouches)
	for i := range most {
		most[i].Path = "/a"
	}
	for n, touches := range map[string][]abi.Touch{"": most, "1025 paths": slices.Concat(most, most[:1]), "touches[1] has no path": {{Path: "a"}, {Write: true}}} {
		b, err := abi.EncodeAssessment(nil, abi.Assessment{Touches: touches})
		fatal(t, err)
		a, err := abi.DecodeAssessment(b)
		if n == "" && (err != nil || !slices.Equal(a.Touches, touches)) {
			t.Errorf("got %d, %v", len(a.Touches), err)
		}
		if n != "" && (err == nil || abi.CodeOf(err) != abi.CodeProtocol || !strings.Contains(err.Error(), n)) {
			t.Errorf("%s: %v", n, err)
		}
	}
}

// A result must not change when the guest's memory does.
func TestResultSharesNoMemory(t *testing.T) {
	t.Parallel()
	b := readFile(t, filepath.Join("testdata", "valid", "result_blocks.bin"))
	r, err := abi.DecodeResult(b, resultMax, nil)
	fatal(t, err)
	want, err := abi.DecodeResult(bytes.Clone(b), resultMax, nil)
	fatal(t, err)
	for i := range b {
		b[i] = 'z'
	}
	if !reflect.DeepEqual(r, want) {
		t.Error("the result changed with the frame")
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	dst := []byte("kept")
	same := func(name string, out []byte, err error) {
		t.Helper()
		if err == nil || string(out) != "kept" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	out, err := abi.EncodeCall(dst, abi.CallHead{Tool: "x", Cwd: strings.Repeat("x", abi.MaxHead)}, nil)
	same("head too long", out, err)
	out, err = abi.EncodeCall(dst, abi.CallHead{Tool: "x", Config: map[string]json.RawMessage{"a": json.RawMessage(`{`)}}, nil)
	same("broken configuration", out, err)
	out, err = abi.EncodeRequest(dst, abi.Request{Name: "x", Args: json.RawMessage(`{`)})
	same("broken arguments", out, err)
	out, err = abi.Frame{Parts: make([]abi.Part, abi.MaxParts+1)}.Append(dst)
	same("too many parts", out, err)
}

func FuzzDecodeFrame(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := abi.DecodeFrame(b)
		if err != nil {
			if abi.CodeOf(err) != abi.CodeProtocol {
				t.Fatalf("%v has the code %q", err, abi.CodeOf(err))
			}
			return
		}
		again, err := frame.Append(nil)
		if err != nil || len(again) != len(b) || len(again) != frame.Size() {
			t.Fatalf("%d bytes become %d, size %d, %v", len(b), len(again), frame.Size(), err)
		}
		second, err := abi.DecodeFrame(again)
		if err != nil || !reflect.DeepEqual(second, frame) {
			t.Fatalf("%+v becomes %+v, %v", frame, second, err)
		}
	})
}

// TestDecodeResultCopies: a runner may read one answer after the other into the
// same room.
func TestDecodeResultCopies(t *testing.T) {
	t.Parallel()
	open := func(handle uint32) (io.ReadCloser, error) {
		return abi.Bytes(bytes.Repeat([]byte{byte('a' + handle)}, 2)), nil
	}
	message, err := abi.Frame{Head: json.RawMessage(`{"content":[
		{"type":"text","source":[{"handle":1}]},
		{"type":"text","source":[{"handle":2},{"handle":3}]},
		{"type":"image","media_type":"image/png","source":[{"handle":4}]},
		{"type":"text","source":[{"handle":5}]}]}`)}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	decoder := abi.ResultDecoder{Limit: resultMax, Open: open, Room: make([]byte, 8)}
	r, err := decoder.Decode(message)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range r.Content {
		got = append(got, b.Text+string(b.Data))
	}
	if want := []string{"bb", "ccdd", "ee", "ff"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzDecodeResult(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 4096
		r, err := abi.DecodeResult(b, most, func(handle uint32) (io.ReadCloser, error) {
			return abi.Bytes(bytes.Repeat([]byte("h"), int(min(handle, most)))), nil
		})
		if err != nil {
			if !abi.CodeOf(err).Known() || err.Error() == "" {
				t.Fatalf("%v has the code %q", err, abi.CodeOf(err))
			}
			return
		}
		again, err := abi.EncodeResult(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		second, err := abi.DecodeResult(again, most<<4, nil)
		if err != nil || !bytes.Equal(compactJSON(t, describe(second)), compactJSON(t, describe(r))) {
			t.Fatalf("%+v\nbecomes\n%+v, %v", r, second, err)
		}
	})
}

func addVectors(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.bin"))
	if err != nil || len(files) == 0 {
		f.Fatal(len(files), err)
	}
	for _, file := range files {
		if b := readFile(f, file); len(b) < 4096 {
			f.Add(b)
		}
	}
}

func BenchmarkMessages(b *testing.B) {
	head := abi.CallHead{Tool: "Read", ID: "toolu_01", Cwd: "/home/u/project"}
	input := []byte(`{"file_path":"/home/u/project/README.md","limit":100}`)
	b.Run("EncodeCall", func(b *testing.B) {
		b.ReportAllocs()
		var dst []byte
		for b.Loop() {
			var err error
			if dst, err = abi.EncodeCall(dst[:0], head, input); err != nil {
				b.Fatal(err)
			}
		}
	})
	request, _ := abi.EncodeRequest(nil, abi.Request{Name: abi.CapFSRead, Args: json.RawMessage(`{"path":"a.txt","lines":{"number":true}}`)})
	b.Run("DecodeRequest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := abi.DecodeRequest(request); err != nil {
				b.Fatal(err)
			}
		}
	})
	result, _ := abi.EncodeResult(nil, abi.ToolResult{Content: []abi.Block{abi.TextBlock(strings.Repeat("x", 4096))}})
	b.Run("DecodeResult", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := abi.DecodeResult(result, resultMax, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
