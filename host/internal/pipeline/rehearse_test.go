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
