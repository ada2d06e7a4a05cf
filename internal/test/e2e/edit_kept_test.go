package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/toolquay/toolquay/internal/testenv"
)

// utf16Of is a text in UTF-16 with its mark, the low byte first or last.
func utf16Of(text string, low, high int) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		pair := [2]byte{}
		pair[low], pair[high] = byte(unit), byte(unit>>8)
		out = append(out, pair[:]...)
	}
	return string(out)
}

// TestEncodingsAreKept edits files and writes them anew, each as it is encoded.
func TestEncodingsAreKept(t *testing.T) {
	t.Parallel()
	same := func(text string) string { return text }
	tests := map[string]struct {
		encode func(string) string
		read   string // what Read says beside the text
		notes  string // what is told of a write
	}{
		"utf8":    {same, "", ""},
		"crlf":    {func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, "", "its lines end with CRLF"},
		"bom":     {func(s string) string { return "\ufeff" + s }, "byte order mark", "it stays UTF-8 with a byte order mark"},
		"utf16le": {func(s string) string { return utf16Of(s, 0, 1) }, "UTF-16LE", "it stays UTF-16LE"},
		"utf16be": {func(s string) string { return utf16Of(s, 1, 0) }, "UTF-16BE", "it stays UTF-16BE"},
		"latin1":  {latin1Of, "Latin-1", "it stays Latin-1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]string{"a.txt": test.encode("grün\nweiß\n")})
			if said := d.does("Read", file("a.txt")); !strings.HasPrefix(said, "     1\tgrün\n     2\tweiß") || !strings.Contains(said, test.read) {
				t.Errorf("Read says %q", said)
			}
			said := d.does("Edit", edit("a.txt", "grün\nw", "blau\nü\nW"))
			said = strings.ReplaceAll(said, "\r", "") // a diff has the endings that the file has
			if !strings.Contains(said, test.notes) || !strings.Contains(said, "-grün\n-weiß\n+blau\n+ü\n+Weiß\n") {
				t.Errorf("Edit says %q", said)
			}
			d.holds("a.txt", test.encode("blau\nü\nWeiß\n"))
			d.does("Write", content("a.txt", "Straße\nÄcker\n"))
			d.holds("a.txt", test.encode("Straße\nÄcker\n"))
		})
	}
}

func latin1Of(text string) string {
	var out []byte
	for _, r := range text {
		out = append(out, byte(r))
	}
	return string(out)
}

// TestLatin1HasNoOtherLetters refuses what a file's encoding has no letter for.
func TestLatin1HasNoOtherLetters(t *testing.T) {
	t.Parallel()
	text := latin1Of("grün\n")
	d := newDesk(t, map[string]string{"a.txt": text})
	d.does("Read", file("a.txt"))
	d.fails(0, "Edit", edit("a.txt", "grün", "緑"), "Latin-1")
	d.fails(0, "Write", content("a.txt", "緑\n"), "Latin-1")
	d.holds("a.txt", text)
}

// TestQuotes takes straight quotes for curly ones, and keeps those of the file.
func TestQuotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.txt": "She said “no”. It’s late.\n"})
	d.does("Read", file("a.txt"))
	d.does("Edit", edit("a.txt", `said "no". It's late`, `said "yes". It's early`))
	d.holds("a.txt", "She said “yes”. It’s early.\n")
}

// TestWhatAFileIsIsKept writes through links, keeps modes, and tells of other names.
func TestWhatAFileIsIsKept(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // for its modes and links
	d := newDesk(t, map[string]string{"run.sh": "echo one\n", "sub/real.txt": "one\n", "named.txt": "one\n"})
	for _, err := range []error{
		os.Chmod(d.path("run.sh"), 0o750),
		os.Symlink(filepath.Join("sub", "real.txt"), d.path("link.txt")),
		os.Link(d.path("named.txt"), d.path("other.txt")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"run.sh", "link.txt", "named.txt"} {
		d.does("Read", file(name))
	}
	d.does("Edit", edit("run.sh", "one", "two"))
	if info, err := os.Stat(d.path("run.sh")); err != nil || info.Mode() != 0o750 {
		t.Errorf("run.sh: %v, %v", info.Mode(), err)
	}
	d.does("Edit", edit("link.txt", "one", "two"))
	d.does("Edit", edit("sub/real.txt", "two", "three")) // the same file, which is known
	d.holds("sub/real.txt", "three\n")
	if to, err := os.Readlink(d.path("link.txt")); err != nil || to != filepath.Join("sub", "real.txt") {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if said := d.does("Edit", edit("named.txt", "one", "two")); !strings.Contains(said, "[1 other hard link of the file keeps the former content]") {
		t.Errorf("got %q", said)
	}
	d.holds("named.txt", "two\n")
	d.holds("other.txt", "one\n")
}

// TestLargeWrite writes ten million bytes through the guest, and says where that ends.
func TestLargeWrite(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	line := strings.Repeat("0123456789 äöü ", 66) + "\n"
	text := strings.Repeat(line, 10<<20/len(line)) + "its end\n"
	said := d.does("Write", content("large.txt", text))
	if !strings.HasPrefix(said, "Created large.txt: ") || len(said) > 1<<20 {
		t.Errorf("it says %d bytes, %.200q", len(said), said)
	}
	d.holds("large.txt", text)
	d.does("Edit", edit("large.txt", "its end", "the end"))
	d.holds("large.txt", strings.TrimSuffix(text, "its end\n")+"the end\n")
	d.fails(0, "Write", content("larger.txt", text+text), "is over the limit of 16777216")
}
