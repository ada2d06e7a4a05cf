package worker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// TestReportsOfAWorker has a worker pass on as many reports as its call's limit, what
// its runner itself has to say, and progress at the pace that people are told at; not
// one more.
func TestReportsOfAWorker(t *testing.T) {
	t.Parallel()
	report, err := abi.EncodeProgress(nil, abi.ProgressHead{Progress: &abi.Progress{Done: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]int{0: 10, plugins.ReportEvery - 1: 10, plugins.ReportEvery: 11, time.Second: 20} {
		synctest.Test(t, func(t *testing.T) {
			limits := plugins.Limits{LogLines: 2}
			m := newModule(New("test", Options{}), plugins.Module{Manifest: &abi.Manifest{Name: "fixture"}, Limits: limits})
			told := 0
			c := &call{link: link{module: m}, reports: reports{to: func(abi.ProgressHead) { told++ }}}
			c.enter(t.Context())
			time.Sleep(after)
			var err error
			for sent := 0; err == nil && sent < 100; sent++ {
				err = c.reports.pass(report, limits.LogLines)
			}
			if err == nil || !strings.Contains(err.Error(), "limit log_lines") || told != want {
				t.Errorf("after %s, %d reports were taken, want %d; then %v", after, told, want, err)
			}
		})
	}
}
