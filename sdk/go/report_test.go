package toolquay_test

import (
	"math"
	"strings"
	"testing"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

type reportInput struct {
	Message, Output string
}

func init() {
	toolquay.Handle("Report", func(c *toolquay.Call, in reportInput) (toolquay.Output, error) {
		c.Progress(in.Message, math.NaN(), math.Inf(1))
		c.Report(toolquay.Progress{Output: in.Output + "\xff", Done: 1})
		c.Report(toolquay.Progress{Output: strings.Repeat("\x80", 70_000)})
		return toolquay.Output{}, nil
	})
}

// TestReports: what a host would refuse is cut, or replaced, before it is sent; the
// end of output that is no UTF-8 is not lost.
func TestReports(t *testing.T) {
	const most = 64 << 10
	long := strings.Repeat("🦀", most/4) // as much as is kept
	for name, tt := range map[string]struct{ message, output, wantMessage, wantOutput string }{
		"nothing":       {"", "", "", "\uFFFD"},
		"short":         {"ä\x00", "one\n", "ä\x00", "one\n\uFFFD"},
		"long":          {strings.Repeat("ä", 5000), long, strings.Repeat("ä", 4096) + "...", long[4:] + "\uFFFD"},
		"cut in a rune": {"", "🦀aa" + long, "", long[4:] + "\uFFFD"},
	} {
		told := files().Call(t, "Report", reportInput{tt.message, tt.output}).Progress
		if len(told) != 3 {
			t.Fatalf("%s: %d reports", name, len(told))
		}
		if p := told[0]; p.Message != tt.wantMessage || p.Done != 0 || p.Total != 0 {
			t.Errorf("%s: reported %.200q, %g of %g", name, p.Message, p.Done, p.Total)
		}
		if p := told[1]; p.Output != tt.wantOutput || p.Done != 1 {
			t.Errorf("%s: the output has %d bytes, want %d", name, len(p.Output), len(tt.wantOutput))
		}
		if got := told[2].Output; got != strings.Repeat("\uFFFD", most) {
			t.Errorf("%s: of %d bytes that are no UTF-8, %d come", name, most, strings.Count(got, "\uFFFD"))
		}
	}
}
