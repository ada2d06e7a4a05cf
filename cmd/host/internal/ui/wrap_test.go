package ui

import (
	"strings"
	"testing"
)

// TestWrapped holds how lines are broken.
func TestWrapped(t *testing.T) {
	t.Parallel()
	const width = 30
	for name, test := range map[string]struct{ in, want string }{
		"short":              {"a few words", "a few words\n"},
		"exact":              {strings.Repeat("x", width), strings.Repeat("x", width) + "\n"},
		"exact, then words":  {strings.Repeat("x", width) + " y", strings.Repeat("x", width) + "\n    y\n"},
		"whole words":        {"asked because the rule says that", "asked because the rule says\n    that\n"},
		"a path":             {"in /home/somebody/projects/quay", "in\n    /home/somebody/projects/\n    quay\n"},
		"a path that is cut": {"in /home/somebody/projects/quay/internal", "in /home/somebody/projects/\n    quay/internal\n"},
		"one long word":      {strings.Repeat("0123456789", 5), "012345678901234567890123456789\n    01234567890123456789\n"},
		"wide characters":    {strings.Repeat("\u754c", 16), strings.Repeat("\u754c", 15) + "\n    \u754c\n"},
		"hidden":             {"a\x1b[2Jb", "a\\x1b[2Jb\n"},
		"nothing":            {"", "\n"},
	} {
		p, out := printer(width, false)
		if p.Wrapped(4, Span{Plain, test.in}); out.String() != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out, test.want)
		}
	}
	p, out := printer(width, true)
	p.Wrapped(2, Span{Bold, "key "}, Span{Dim, "and what it says in many words"})
	if want := "\x1b[1mkey \x1b[0m\x1b[2mand what it says in many\x1b[0m\n  \x1b[2mwords\x1b[0m\n"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestQuoted holds that a line that goes on is told from one of its own.
func TestQuoted(t *testing.T) {
	t.Parallel()
	p, out := printer(30, false)
	p.Quoted("make test && cargo build --release\n\tnext\n  in\n", func(string) Style { return Plain })
	if want := "  | make test && cargo build\n    --release\n  |     next\n  |   in\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// FuzzRows holds that nothing but single blanks is left out between rows, that no row is
// wider than there is room, and that a word is only broken where it does not fit.
func FuzzRows(f *testing.F) {
	f.Add("a few words and /a/long/path/that/goes/on", 30, 4)
	f.Add("   \u754c\u0301 x", 24, 0)
	f.Fuzz(func(t *testing.T, text string, width, margin int) {
		text, width = Line(text), min(max(width, minWrap), 200)
		margin = min(max(margin, 0), width/3)
		at := 0
		for i, r := range rows(text, width, margin) {
			limit := width
			if i > 0 {
				limit -= margin
			}
			if gap := text[at:r.from]; gap != "" && gap != " " || r.to < r.from {
				t.Fatalf("%q: %q is left out before row %d", text, gap, i)
			}
			if cells(text[r.from:r.to]) > limit {
				t.Fatalf("%q: row %d is wider than %d: %q", text, i, limit, text[r.from:r.to])
			}
			if r.to == at && i > 0 && r.to != len(text) {
				t.Fatalf("%q: row %d is empty", text, i)
			}
			at = r.to
		}
		if rest := text[at:]; rest != "" && rest != " " {
			t.Fatalf("%q: %q is left out at the end", text, rest)
		}
	})
}
