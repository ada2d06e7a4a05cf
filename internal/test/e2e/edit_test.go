package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestEditNumbers takes Edit through its failures, each where all that follow apply as
// well: the lowest is told.
func TestEditNumbers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.txt": "one\ntwo two\n", "secret.txt": "x\n"})
	d.fails(1, "Edit", edit("missing.txt", "x", "x"), "missing.txt does not exist", "Write makes new files")
	if r := d.call("Edit", edit("secret.txt", "x", "x")); r.Error == nil || r.Error.Code != abi.CodeDenied {
		t.Errorf("a denied one: %s", r.Text())
	}
	d.fails(2, "Edit", edit("a.txt", "none", "none"), "was not read in this session")
	d.does("Read", file("a.txt"))
	d.put("a.txt", "ONE\ntwo two\n")
	d.fails(3, "Edit", edit("a.txt", "none", "none"), "has changed since it was read")
	d.does("Read", file("a.txt"))
	d.fails(4, "Edit", edit("a.txt", "none", "none"), "are the same")
	d.fails(5, "Edit", edit("a.txt", "none", "some"), "is not in")
	d.fails(6, "Edit", edit("a.txt", "two", "2"), "2 times", "every occurrence")
	d.holds("a.txt", "ONE\ntwo two\n")
	all := edit("a.txt", "two", "2")
	all["replace_all"] = true
	want := "Edited a.txt: 2 replacements, 1 line added, 1 removed\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n ONE\n-two two\n+2 2\n"
	if got := d.does("Edit", all); got != want {
		t.Errorf("got %q", got)
	}
	d.holds("a.txt", "ONE\n2 2\n")
}

// TestWriteNumbers does the same with Write.
func TestWriteNumbers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.txt": "one\n", "secret.txt": "x\n"})
	if r := d.call("Write", content("secret.txt", "x\n")); r.Error == nil || r.Error.Code != abi.CodeDenied {
		t.Errorf("a denied one: %s", r.Text())
	}
	d.fails(2, "Write", content("a.txt", "one\n"), "was not read in this session")
	d.does("Read", file("a.txt"))
	d.put("a.txt", "two\n")
	d.fails(3, "Write", content("a.txt", "two\n"), "has changed since it was read")
	d.does("Read", file("a.txt"))
	if got := d.does("Write", content("a.txt", "two\n")); got != "a.txt has just this content already: nothing was written" {
		t.Errorf("got %q", got)
	}
	if got := d.does("Write", content("a.txt", "three\n")); got != "Wrote a.txt: 1 line added, 1 removed\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-two\n+three\n" {
		t.Errorf("got %q", got)
	}
	if got := d.does("Write", content("new/deep/b.txt", "b\n")); !strings.HasPrefix(got, "Created new/deep/b.txt: 1 line added\n") {
		t.Errorf("got %q", got)
	}
	d.holds("new/deep/b.txt", "b\n")
	d.does("Edit", edit("new/deep/b.txt", "b", "c")) // what it wrote itself, it knows
}

// numbered are so many lines.
func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d of it\n", i+1)
	}
	return text.String()
}

// TestPartialRead edits what was shown of a long file, and nothing else.
func TestPartialRead(t *testing.T) {
	t.Parallel()
	text := numbered(5_000)
	d := newDesk(t, map[string]string{"long.txt": text})
	d.does("Read", input{"file_path": "long.txt", "offset": 3_000, "limit": 10})
	d.fails(2, "Edit", edit("long.txt", "line 2999 of", "x"), "was read in part", "at line 2999", "offset 2999")
	d.fails(2, "Edit", edit("long.txt", "line 3010 of", "x"), "was read in part")
	d.fails(2, "Write", content("long.txt", "x"), "was read in part")
	d.holds("long.txt", text)
	edits := []struct{ from, to string }{
		{"line 3000 of it", "a longer text in its place, which moves what follows"},
		{"line 3009 of", "line of"},
		{"which moves", "moving"},
	}
	for _, e := range edits {
		d.does("Edit", edit("long.txt", e.from, e.to))
		text = strings.Replace(text, e.from, e.to, 1)
	}
	d.holds("long.txt", text)
	d.fails(2, "Edit", edit("long.txt", "line 3010 of", "x"))
	d.does("Read", input{"file_path": "long.txt", "offset": 3_010, "limit": 1})
	d.does("Edit", edit("long.txt", "line 3010 of", "x"))
}

// TestUnchanged shows a file once more to who asks a third time, to the calls of one
// turn, and after any write.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	const again = "[a.txt has not changed since the same was shown earlier in this conversation; read it again to have it shown once more]"
	d := newDesk(t, map[string]string{"a.txt": "one\ntwo\n"})
	read := func(want ...string) {
		t.Helper()
		var uses []abi.ToolUse
		for range want {
			uses = append(uses, d.use("Read", file("a.txt")))
		}
		for i, r := range d.turn(uses...) {
			if r.Text() != want[i] {
				t.Errorf("call %d: %q; want %q", i, r.Text(), want[i])
			}
		}
	}
	const whole = "     1\tone\n     2\ttwo"
	read(whole, whole, whole)
	read(again, again)
	read(whole)
	read(again)
	if got := d.does("Read", input{"file_path": "a.txt", "offset": 2}); got != "     2\ttwo" {
		t.Errorf("another part: %q", got)
	}
	d.put("a.txt", "one\nTWO\n")
	read("     1\tone\n     2\tTWO")
	d.does("Edit", edit("a.txt", "TWO", "2"))
	read("     1\tone\n     2\t2")
}

// TestForeignChange tells of what others wrote, and of nothing that the model wrote.
func TestForeignChange(t *testing.T) {
	t.Parallel()
	const hint = "Files that were read earlier have changed since"
	d := newDesk(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
	d.does("Read", file("a.txt"))
	d.does("Read", file("b.txt"))
	for _, said := range []string{
		d.does("Edit", edit("a.txt", "one", "two")),
		d.does("Write", content("b.txt", "two\n")),
		d.does("Edit", edit("b.txt", "two", "three")),
	} {
		if strings.Contains(said, hint) {
			t.Errorf("a hint of its own write: %q", said)
		}
	}
	d.put("a.txt", "theirs\n")
	if said := d.does("Edit", edit("b.txt", "three", "four")); !strings.Contains(said, hint) || !strings.Contains(said, d.path("a.txt")) {
		t.Errorf("no hint of the foreign write: %q", said)
	}
	d.fails(3, "Edit", edit("a.txt", "two", "three"))
	d.fails(3, "Write", content("a.txt", "three\n"))
	d.holds("a.txt", "theirs\n")

	// A file that is only touched, or that holds what was read again, did not change.
	d.does("Read", file("a.txt"))
	d.put("a.txt", "other\n")
	d.put("a.txt", "theirs\n")
	d.does("Edit", edit("a.txt", "theirs", "ours"))
	if err := os.Remove(d.path("b.txt")); err != nil {
		t.Fatal(err)
	}
	d.fails(1, "Edit", edit("b.txt", "four", "five"))
	if said := d.does("Write", content("b.txt", "five\n")); !strings.HasPrefix(said, "Created b.txt: ") {
		t.Errorf("what is gone was not made anew: %q", said)
	}
}
