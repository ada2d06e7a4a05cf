package fs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/toolquay/toolquay/abi"
)

// encoded is a text in an encoding, made by other means than the ones tested.
func encoded(e encoding, text string) string {
	out := []byte(boms[e])
	for _, unit := range utf16.Encode([]rune(text)) {
		switch e {
		case utf16LE:
			out = binary.LittleEndian.AppendUint16(out, unit)
		case utf16BE:
			out = binary.BigEndian.AppendUint16(out, unit)
		case latin1:
			out = append(out, byte(unit))
		default:
			return boms[e] + text
		}
	}
	return string(out)
}

var encodings = []encoding{utf8Plain, utf8BOM, utf16LE, utf16BE, latin1}

func TestSniff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head string
		part bool // of a longer file
		want encoding
	}{
		"empty":                           {"", false, utf8Plain},
		"ASCII":                           {"text", false, utf8Plain},
		"UTF-8":                           {"äö€𝄞", false, utf8Plain},
		"UTF-8, cut within a character":   {"ab\xf0\x9d\x84", true, utf8Plain},
		"UTF-8, ended within a character": {"ab\xf0\x9d\x84", false, latin1},
		"UTF-8, cut behind a character":   {"abä", true, utf8Plain},
		"a byte too many":                 {"abä\xa4", true, latin1},
		"UTF-8 with a mark":               {"\xef\xbb\xbfa", false, utf8BOM},
		"with a mark, invalid":            {"\xef\xbb\xbfa\xff", false, utf8BOM},
		"UTF-16LE":                        {"\xff\xfea\x00", false, utf16LE},
		"UTF-16BE":                        {"\xfe\xff\x00a", false, utf16BE},
		"only a mark":                     {"\xff\xfe", false, utf16LE},
		"Latin-1":                         {"gr\xfc\xdfe\r\n\t\x1b[1m", false, latin1},
		"one byte":                        {"\xe4", false, latin1},
		"a control character in much":     {strings.Repeat("gr\xfc\xdfe ", 10) + "\x01", false, latin1},
	} {
		if got, err := sniff([]byte(c.head), !c.part); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	for name, head := range map[string]string{
		"a NUL":              "a\x00",
		"a NUL and a mark":   "\xef\xbb\xbfa\x00",
		"UTF-16, no mark":    "a\x00b\x00",
		"UTF-32":             "\xff\xfe\x00\x00a\x00\x00\x00",
		"a NUL unit":         "\xff\xfea\x00\x00\x00b\x00",
		"control characters": "\xe4\x01\x02",
		"random bytes":       "\x8f\x1d\xd0\x03\x9a\x7f\xe7\x11\x42",
	} {
		if got, err := sniff([]byte(head), true); !errors.Is(err, errBinary) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestReadEncodings reads one text in all encodings, at all offsets.
func TestReadEncodings(t *testing.T) {
	t.Parallel()
	text := "größer\r\n\n" + strings.Repeat("ÿ", 300) + "\nend"
	wide := text + " €𝄞\nᄒ\uFFFD"
	for _, e := range encodings {
		want := wide
		if e == latin1 {
			want = text
		}
		dir := t.TempDir()
		write(t, dir, "f", encoded(e, want))
		for offset := range int64(7) {
			for _, limit := range []int64{0, 1, 2} {
				a := abi.LineArgs{Offset: offset, Limit: limit, MaxLine: 200, Number: true}
				ok, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Lines: &a}, all)
				if err != nil {
					t.Fatalf("%v: %v", e, err)
				}
				if want := naive(want, a); body != want {
					t.Errorf("%v, %+v: %q, want %q", e, a, body, want)
				}
				if got, _ := ok.(abi.ReadOK); got.Encoding != e.String() {
					t.Errorf("%v is said to be %s", e, got.Encoding)
				}
			}
		}
	}
}

// TestReadLongEncodings reads texts of several pieces, whose characters lie across
// their borders.
func TestReadLongEncodings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&b, "%d ä%s\n", i, strings.Repeat("x", i%7))
	}
	narrow := b.String()
	for _, e := range encodings {
		text := narrow
		if e != latin1 {
			text = strings.ReplaceAll(narrow, "ä", "𝄞")
		}
		dir := t.TempDir()
		write(t, dir, "f", encoded(e, text))
		for _, a := range []abi.LineArgs{{}, {Offset: 29_990, Number: true}, {Offset: 15_000, Limit: 3}} {
			_, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Lines: &a}, all)
			if want := naive(text, a); err != nil || body != want {
				t.Errorf("%v %+v: %d bytes, %v; want %d", e, a, len(body), err, len(want))
			}
		}
	}
}

func TestBrokenUTF16(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ raw, want string }{
		"half a pair":          {"\xff\xfea\x00\x00\xd8b\x00", "a\uFFFDb"},
		"the other half":       {"\xff\xfea\x00\x00\xdcb\x00", "a\uFFFDb"},
		"half a pair, the end": {"\xff\xfea\x00\x00\xd8", "a\uFFFD"},
		"half a unit":          {"\xff\xfea\x00b", "a\uFFFD"},
		"half a pair and unit": {"\xff\xfea\x00\x00\xd8b", "a\uFFFD"},
		"a line of the bytes":  {"\xff\xfe\x0a\x0aa\x00", "\u0a0aa"},
	} {
		write(t, dir, "f", c.raw)
		_, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{}}, all)
		if err != nil || body != c.want {
			t.Errorf("%s: %q, %v; want %q", name, body, err, c.want)
		}
	}
}

// TestLateInvalid reads a file whose head says UTF-8 and whose rest is not: the same
// way at every offset.
func TestLateInvalid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := strings.Repeat("good\n", headSize/5+1)
	write(t, dir, "f", good+"gr\xfc\xdfe\n"+good)
	lines := int64(headSize/5 + 1)
	for _, a := range []abi.LineArgs{{}, {Offset: lines}, {Offset: lines + 1, Limit: 1}} {
		ok, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "f", Lines: &a}, all)
		if got, _ := ok.(abi.ReadOK); err != nil || got.Encoding != abi.EncodingUTF8 || !strings.Contains(body, "gr\uFFFDe") {
			t.Errorf("%+v: %+v, %v", a, ok, err)
		}
	}
	write(t, dir, "early", "gr\xfc\xdfe\n"+good)
	ok, body, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "early", Lines: &abi.LineArgs{Limit: 1}}, all)
	if got, _ := ok.(abi.ReadOK); err != nil || got.Encoding != abi.EncodingLatin1 || body != "grüße" {
		t.Errorf("%+v, %q, %v", ok, body, err)
	}
}

// TestEndlessInvalidLine ends although what is no character shrinks when it is shown.
func TestEndlessInvalidLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("good\n", headSize/5+1) + strings.Repeat("\xff", 2*chunkSize)
	a := abi.LineArgs{Offset: headSize/5 + 2, MaxChars: 100}
	r, err := readLines(t.Context(), strings.NewReader(text), int64(len(text)), a, nil)
	if err != nil || len(r.out) > 0 || !r.ok.Stopped {
		t.Errorf("%q, %+v, %v", r.out, r.ok, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x00\n\x00\x00\xd8\x00\xdc\x00\xd8b"), true)
	f.Fuzz(func(t *testing.T, raw []byte, little bool) {
		e := utf16BE
		if little {
			e = utf16LE
		}
		raw = append([]byte(boms[e]), raw...)
		r, err := readLines(t.Context(), strings.NewReader(string(raw)), int64(len(raw)), abi.LineArgs{Offset: 1, MaxChars: 1 << 20}, &seen{})
		if errors.Is(err, errBinary) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.seen.at != int64(len(raw)) {
			t.Errorf("%d of %d bytes were passed", r.seen.at, len(raw))
		}
		var units []uint16
		for i := len(boms[e]); i+2 <= len(raw); i += 2 {
			units = append(units, e.order().Uint16(raw[i:]))
		}
		if want := string(utf16.Decode(units)); len(raw)%2 == 0 && !strings.ContainsRune(want, '\uFFFD') && string(r.out) != naive(want, abi.LineArgs{}) {
			if !strings.HasSuffix(want, "\r") && !strings.HasPrefix(want, "\ufeff") && want != "" {
				t.Errorf("%q, want %q", r.out, want)
			}
		}
	})
}
