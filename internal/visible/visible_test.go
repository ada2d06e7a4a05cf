package visible_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/visible"
)

func TestShort(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, short, quoted string }{
		{"", "", `""`},
		{"abcdef", "abcdef", `"abcdef"`},
		{"abcdefg", "abcdef...", `"abcdef"...`},
		{"a\nb", `a\nb`, `"a\nb"`},
		{`a"b\`, `a"b\`, `"a\"b\\"`},
		{"\x1b[2J", `\x1b[2J`, `"\x1b[2J"`},
		{"a\u202eb", `a\u202eb`, `"a\u202eb"`},
		{"a\ufe0fb", `a\ufe0fb`, `"a\ufe0fb"`},
		{"abcdeüf", "abcde...", `"abcde"...`},
		{"\xff\xfe", `\xff\xfe`, `"\xff\xfe"`},
		{"\x80\x80\x80\x80\x80\x80\x80", `\x80\x80\x80\x80\x80\x80...`, `"\x80\x80\x80\x80\x80\x80"...`},
	}
	for _, test := range tests {
		if got := visible.Short(test.text, 6); got != test.short {
			t.Errorf("Short(%q) = %s, want %s", test.text, got, test.short)
		}
		if got := visible.Quote(test.text, 6); got != test.quoted {
			t.Errorf("Quote(%q) = %s, want %s", test.text, got, test.quoted)
		}
	}
}

func FuzzShort(f *testing.F) {
	f.Add("abc\x1b\u202e\n", 4)
	f.Add(strings.Repeat("ü", 100), 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 0 || most > 1000 {
			return
		}
		for _, got := range []string{visible.Short(text, most), visible.Quote(text, most)} {
			if len(got) > 10*most+5 || !utf8.ValidString(got) {
				t.Errorf("%d bytes of %q become %q", most, text, got)
			}
			for _, r := range got {
				if !visible.Rune(r) {
					t.Errorf("%q holds %q", got, r)
				}
			}
		}
	})
}

func TestWithoutQuery(t *testing.T) {
	t.Parallel()
	cause := errors.New("https://example.com/mcp?key=hush cannot be reached")
	for address, want := range map[string]string{
		"https://example.com/mcp?key=hush":  "https://example.com/mcp?… cannot be reached",
		"https://example.com/mcp?key=other": cause.Error(),
		"https://example.com/mcp":           cause.Error(),
		"%":                                 cause.Error(),
	} {
		if got := visible.WithoutQuery(address, cause); got.Error() != want || !errors.Is(got, cause) {
			t.Errorf("%s: %v", address, got)
		}
	}
	if visible.WithoutQuery("https://example.com?key=hush", nil) != nil {
		t.Error("nothing became an error")
	}
}
