package pipeline

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestPreviewIsCut shows whole lines of at most 20,000 characters.
func TestPreviewIsCut(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("ä", 99) + "\n"
	diff := strings.Repeat(line, 150)
	if got := preview(diff); got != diff {
		t.Errorf("%d bytes of %d are shown", len(got), len(diff))
	}
	if got, want := preview(diff+diff), strings.Repeat(line, 200)+"... and more, which is not shown here\n"; got != want {
		t.Errorf("%d bytes are shown, want %d", len(got), len(want))
	}
}

// TestDiffsAreBounded keeps no more of diffs than a preview can show.
func TestDiffsAreBounded(t *testing.T) {
	t.Parallel()
	keptOf := func(diff string, n int) int {
		var r rehearsal
		for range n {
			r.keep([]byte(diff))
		}
		return len(r.diffs)
	}
	diff := strings.Repeat("ä", 999) + "\n"
	if few, many := keptOf(diff, 3), keptOf(diff, 10_000); few != 3*len(diff) || many < 4*20_000 || many > 4*20_000+1 {
		t.Errorf("it keeps %d and %d bytes", few, many)
	}
}

// TestPatchForPeople leaves out binary content, and bounds what is kept.
func TestPatchForPeople(t *testing.T) {
	t.Parallel()
	const text = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-GIT binary patch\n+x\n"
	const binary = "diff --git a/b b/b\nnew file mode 100644\nindex 0..1\nGIT binary patch\n"
	const said = "its content is binary, and is not shown\n"
	const patch = text + binary + "literal 3\nKcmZQ\n\nliteral 0\nHcmV?\n\n" + text
	want := text + strings.Replace(binary, "GIT binary patch\n", said, 1) + text
	for _, size := range []int{1, 7, len(patch)} {
		var f forPeople
		for some := range slices.Chunk([]byte(patch), size) {
			if n, err := f.Write(some); n != len(some) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := string(f.text); got != want {
			t.Errorf("by %d bytes, got %q", size, got)
		}
	}
	for _, line := range []string{strings.Repeat("ä", 999) + "\n", strings.Repeat("ä", 99_999) + "\n"} {
		var f forPeople
		kept := 0
		for range 1_000 {
			if _, err := f.Write([]byte(line)); errors.Is(err, errEnough) {
				break
			}
			kept++
		}
		if kept > 50 || cap(f.text)+cap(f.line) > 10*enoughDiff || !strings.HasSuffix(preview(string(f.text)), "not shown here\n") {
			t.Errorf("it keeps %d lines, in %d bytes", kept, cap(f.text)+cap(f.line))
		}
	}
}
