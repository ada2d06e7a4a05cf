package host_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

// BenchmarkParallel is a turn of 100 calls, each of which is about a millisecond's
// work for its guest: one after the other, and as many at once as there may be. The
// two are run by turns, and "times" is how many times as fast the second is, each by
// its quickest: the machine may do other things too. On two cores the project asks
// for 1.7.
func BenchmarkParallel(b *testing.B) {
	serial, parallel := guestTurn(b, host.Options{Limits: host.LimitOptions{MaxConcurrent: 1}}), guestTurn(b, host.Options{})
	best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for b.Loop() {
		for i, run := range []func(){serial, parallel} {
			best[i] = min(best[i], testenv.Took(run))
		}
	}
	b.ReportMetric(best[0].Seconds()*1000, "ms/serial")
	b.ReportMetric(best[1].Seconds()*1000, "ms/parallel")
	b.ReportMetric(float64(best[0])/float64(best[1]), "times")
}

// guestTurn is a turn of 100 calls, which has run once.
func guestTurn(b *testing.B, o host.Options) func() {
	b.Helper()
	o.Plugins.Sources = []plugins.Source{plugin(b, "count", fixtureTool+"read_only = true\nconcurrency_safe = true\n")}
	s := session(b, open(b, o), host.SessionOptions{})
	uses := make([]abi.ToolUse, 100)
	for i := range uses {
		uses[i] = use(strconv.Itoa(i), "Fixture", `{}`)
	}
	run := func() {
		for _, r := range s.Results(b.Context(), uses) {
			if r.Text() != "ok" {
				b.Fatal(r.Text())
			}
		}
	}
	run()
	return run
}
