package results

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

func TestBeginningAndEnding(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text              string
		n                 int
		beginning, ending string
	}{
		"empty":                      {"", 4, "", ""},
		"shorter":                    {"abc", 4, "abc", "abc"},
		"exactly":                    {"abcd", 4, "abcd", "abcd"},
		"one over":                   {"abcde", 4, "abcd", "bcde"},
		"nothing":                    {"abc", 0, "", ""},
		"newline first in its half":  {"ab\ncdef", 4, "ab\n", "cdef"},
		"newline outside its half":   {"a\nbcdefg\nh", 4, "a\nbc", "fg\nh"},
		"the last of several":        {"ab\ncd\nef\ngh", 9, "ab\ncd\nef\n", "cd\nef\ngh"},
		"newline at the cut":         {"abc\ndef", 4, "abc\n", "def"},
		"newline behind the cut":     {"abcd\nefgh", 4, "abcd", "efgh"},
		"CRLF":                       {"ab\r\ncd\r\nef", 6, "ab\r\n", "cd\r\nef"},
		"CRLF cut between":           {"abc\r\ndef", 4, "abc\r", "def"},
		"two bytes, cut inside":      {"abcé", 4, "abc", "bcé"},
		"two bytes, cut inside, end": {"éabc", 4, "éab", "abc"},
		"four bytes":                 {"a😀b😀", 5, "a😀", "b😀"},
		"four bytes, cut inside":     {"a😀b😀", 4, "a", "😀"},
		"larger than all":            {"😀😀", 3, "", ""},
		"only newlines":              {"\n\n\n\n\n\n", 4, "\n\n\n\n", "\n\n\n"},
	}
	for name, test := range tests {
		if got := beginning(test.text, test.n); got != test.beginning {
			t.Errorf("%s: it begins %q, not %q", name, got, test.beginning)
		}
		if got := ending(test.text, test.n); got != test.ending {
			t.Errorf("%s: it ends %q, not %q", name, got, test.ending)
		}
	}
}

// shown is what of a text a preview shows, without what it says about it.
func shown(tb testing.TB, text string) []string {
	tb.Helper()
	body, ok := strings.CutSuffix(text, "\n</persisted-output>")
	_, body, ok2 := strings.Cut(body, "\n\nIts ")
	if !ok || !ok2 {
		tb.Fatalf("it is no preview: %q", text)
	}
	var parts []string
	if first, second, both := strings.Cut(body, "\n\nIts end:\n"); both && strings.HasPrefix(body, "beginning:\n") {
		parts = append(parts, strings.TrimPrefix(first, "beginning:\n"), second)
	} else {
		_, only, _ := strings.Cut(body, ":\n")
		parts = append(parts, only)
	}
	return parts
}

// anyClosing is what a reader could take for the end of a preview.
var anyClosing = regexp.MustCompile(`(?i)</persisted-output`)

// checkPreview holds a preview of a text to what must be true of all.
func checkPreview(tb testing.TB, blocks []abi.Block, strategy Strategy, limit int) {
	tb.Helper()
	all := textOf(blocks)
	text := preview(&all, "/s/tool-results/x.txt", strategy, limit)
	if !utf8.ValidString(text) {
		tb.Errorf("it is not UTF-8: %q", text)
	}
	if len(anyClosing.FindAllString(text, -1)) != 1 {
		tb.Errorf("its end is not only at its end: %q", text)
	}
	if text != preview(&all, "/s/tool-results/x.txt", strategy, limit) {
		tb.Error("it is another one each time")
	}
	var whole bytes.Buffer
	if n, err := all.WriteTo(&whole); err != nil || n != all.bytes || int64(whole.Len()) != n {
		tb.Errorf("%d bytes of %d were written, %v", n, all.bytes, err)
	}
	if got := int64(utf8.RuneCount(whole.Bytes())); got != all.chars {
		tb.Errorf("%d characters, counted as %d", got, all.chars)
	}
	size := 0
	for _, part := range shown(tb, text) {
		size += len(part)
	}
	if size > limit {
		tb.Errorf("it shows %d bytes, over %d", size, limit)
	}
	checkParts(tb, shown(tb, text), escape(validUTF8(whole.String())), strategy, limit)
}

// checkParts wants the parts of a preview to be the beginning and the end of the
// text, and not too little of it.
func checkParts(tb testing.TB, parts []string, whole string, strategy Strategy, limit int) {
	tb.Helper()
	if strategy == StrategyBoth {
		limit /= 2
	}
	for i, part := range parts {
		atEnd := strategy == StrategyEnd || i == 1
		ok := strings.HasPrefix(whole, part)
		if atEnd {
			ok = strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(whole, "\n"), "\r"), part)
		}
		if !ok {
			tb.Errorf("part %d is not of the text: %q", i, part)
		}
		// A newline in the second half, CRLF, and a code point at the cut.
		if least := min(limit/2-len("\r\n")-utf8.UTFMax, len(whole)-2); len(part) < least {
			tb.Errorf("part %d has %d bytes only, of %d and at most %d", i, len(part), len(whole), limit)
		}
	}
}

var strategies = []Strategy{StrategyStart, StrategyEnd, StrategyBoth}

func TestPreviewLaws(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"ascii, no newline":    strings.Repeat("x", 5000),
		"lines":                strings.Repeat("a line\n", 1000),
		"CRLF":                 strings.Repeat("a line\r\n", 1000),
		"two bytes":            strings.Repeat("é", 3000),
		"three bytes":          strings.Repeat("€", 3000),
		"four bytes":           strings.Repeat("😀", 3000),
		"one byte then four":   "x" + strings.Repeat("😀", 3000),
		"not UTF-8":            strings.Repeat("\xff\xfe", 3000),
		"cut short":            strings.Repeat("x", 4000) + "\xf0\x9f",
		"closing":              strings.Repeat("</persisted-output>", 500),
		"closing, in capitals": strings.Repeat("</PerSiSted-outPUT>", 500),
		"closing, odd letters": strings.Repeat("</perſiſted-output>", 500),
		"closing at the cut":   strings.Repeat("x", 1990) + "</persisted-output>" + strings.Repeat("x", 3000),
		"exactly":              strings.Repeat("x", PreviewBytes),
		"one over":             strings.Repeat("x", PreviewBytes+1),
		"one under":            strings.Repeat("x", PreviewBytes-1),
		"newlines":             strings.Repeat("\n", 5000),
		"NULs":                 strings.Repeat("\x00", 5000),
	}
	for name, text := range texts {
		for _, strategy := range strategies {
			for _, limit := range []int{PreviewBytes, 100, 7} {
				t.Run(fmt.Sprint(name, " ", strategy, " ", limit), func(t *testing.T) {
					t.Parallel()
					checkPreview(t, []abi.Block{abi.TextBlock(text)}, strategy, limit)
					third := len(text) / 3
					checkPreview(t, []abi.Block{abi.TextBlock(text[:third]), abi.TextBlock("\n"), abi.TextBlock(text[third:])}, strategy, limit)
				})
			}
		}
	}
}

func FuzzPreview(f *testing.F) {
	f.Add("a line\nanother\n", "more", uint16(10))
	f.Add(strings.Repeat("😀\r\n", 20), "\xff\xf0", uint16(33))
	f.Add("</persisted-output></persisted-output", "</pers", uint16(20))
	f.Add("</PERSISTED-OUTPUT></perſiſted-output>", "</perſi", uint16(25))
	f.Fuzz(func(t *testing.T, a, b string, limit uint16) {
		var blocks []abi.Block
		for _, text := range []string{a, b} {
			if text != "" {
				blocks = append(blocks, abi.TextBlock(text))
			}
		}
		if len(blocks) == 0 || strings.Contains(a+b, "\n\nIts ") {
			return // the test could not tell it from what a preview says
		}
		for _, strategy := range strategies {
			checkPreview(t, blocks, strategy, int(limit)%PreviewBytes+1)
		}
	})
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 12: "12", 999: "999", 1000: "1,000", 83204: "83,204", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
	for n, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 200 << 20: "200.0 MiB", 3 << 30: "3.0 GiB", 5 << 40: "5120.0 GiB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}
