package pipeline

import (
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

// TestPatchForPeople leaves out what only programs read.
func TestPatchForPeople(t *testing.T) {
	t.Parallel()
	const text = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-GIT binary patch\n+x\n"
	const binary = "diff --git a/b b/b\nnew file mode 100644\nindex 0..1\nGIT binary patch\n"
	const said = "its content is binary, and is not shown\n"
	got := forPeople(text + binary + "literal 3\nKcmZQ\n\nliteral 0\nHcmV?\n\n" + text)
	if want := text + strings.Replace(binary, "GIT binary patch\n", said, 1) + text; got != want {
		t.Errorf("got %q", got)
	}
}
