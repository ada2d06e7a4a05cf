package search

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// inUTF16 encodes text with a byte order mark.
func inUTF16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func TestUTF16Reader(t *testing.T) {
	t.Parallel()
	for _, order := range []interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}{binary.LittleEndian, binary.BigEndian} {
		text := strings.Repeat("aé\u4e16\U0001f600\n", 20_000)
		raw := inUTF16(order, text) + string(order.AppendUint16(nil, 0xd83d)) + "\x00"
		for name, src := range map[string]io.Reader{
			"whole":           strings.NewReader(raw[2:]),
			"in single bytes": iotest.OneByteReader(strings.NewReader(raw[2:])),
		} {
			got, err := io.ReadAll(newUTF16Reader(order, src))
			if want := text + "\ufffd\ufffd"; err != nil || string(got) != want {
				t.Errorf("%v, %s: %d bytes, want %d: %v", order, name, len(got), len(want), err)
			}
		}
	}
	if order := byMark([]byte("\xef\xbb\xbf")); order != nil {
		t.Errorf("the mark of UTF-8 is that of %v", order)
	}
}

// TestUTF16AgainstRipgrep: what a byte order mark says is believed, as ripgrep does.
func TestUTF16AgainstRipgrep(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	text := "one needle\r\nzwölf needle \U0001f600\nnone\n\nthe last needle"
	many := strings.Repeat("a line without it, Σ\n", 30_000) + "needle\n"
	little, big := inUTF16(binary.LittleEndian, text), inUTF16(binary.BigEndian, text)
	root := tree(t,
		"little", little, "big", big, "no mark", little[2:], "mark alone", "\xff\xfe", "half", little+"x", "many", inUTF16(binary.BigEndian, many),
		"halves of pairs", little+"\n\x00\x3d\xd8n\x00e\x00e\x00d\x00l\x00e\x00", "with NUL", inUTF16(binary.LittleEndian, "needle\x00\nneedle\n"), "plain", text,
	)
	for _, pattern := range []string{"needle", "needle$", `\bzw\w+`, "^$", "NEEDLE", "Σ$"} {
		a := abi.ContentsArgs{Pattern: pattern, Mode: abi.ModeContent, LineNumbers: true, Limit: 100_000, CaseInsensitive: pattern == "NEEDLE", Globs: []string{"!with NUL"}}
		_, got, err := call(t, root, abi.CapSearchContents, a, all)
		want := strings.ReplaceAll(rg(t, root, arguments(a)...), "\r\n", "\n")
		if err != nil || got != want {
			t.Errorf("%q: %v\n%s", pattern, err, difference(got, want))
		}
	}
	a := abi.ContentsArgs{Pattern: "needle", Globs: []string{"with NUL"}}
	if _, got, err := call(t, root, abi.CapSearchContents, a, all); err != nil || got != "" {
		t.Errorf("what decodes to binary is searched: %q %v", got, err)
	}
}
