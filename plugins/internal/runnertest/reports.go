package runnertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

func testLogFlood(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "log_flood", patient)
	var lines []abi.Log
	inv := g.invocation("{}")
	inv.Report = func(p abi.ProgressHead) { lines = append(lines, *p.Log) }
	result, err := g.Call(t.Context(), inv)
	if err != nil || result.Text() != "ok" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	if len(lines) != Limits.LogLines+1 {
		t.Fatalf("got %d lines", len(lines))
	}
	for _, line := range lines[:Limits.LogLines] {
		if line != (abi.Log{Level: "info", Message: "still here"}) {
			t.Fatalf("got the line %+v", line)
		}
	}
	if last := lines[Limits.LogLines].Message; !strings.Contains(last, "999900 more") || !strings.Contains(last, "log_lines = 100") {
		t.Errorf("the last line is %q", last)
	}
}

func testOutput(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "report_output", patient)
	var reports []abi.Progress
	inv := g.invocation("{}")
	inv.Report = func(p abi.ProgressHead) { reports = append(reports, *p.Progress) }
	result, err := g.Call(t.Context(), inv)
	if err != nil || result.Text() != "ok" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	want := []abi.Progress{{Message: "building", Output: "one\ntwo\n"}, {Output: "three\x1b[0m\n"}}
	if !slices.Equal(reports, want) {
		t.Errorf("got %+v", reports)
	}
}

// testProgressFlood has more reports than are passed on: the first come all, and
// later ones at the pace that people are told at, so that the last is never lost.
func testProgressFlood(t *testing.T, s *Suite) {
	t.Helper()
	const flood = 1_000_000
	g := s.load(t, "report_flood", patient)
	var told []string
	var dropped int
	inv := g.asking(func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		time.Sleep(plugins.ReportEvery)
		return Echoing("go on")(ctx, r)
	})
	inv.Report = func(p abi.ProgressHead) {
		if p.Progress != nil {
			told = append(told, p.Progress.Message)
		} else if _, err := fmt.Sscanf(p.Log.Message, "%d more", &dropped); err != nil {
			t.Errorf("logged %q: %v", p.Log.Message, err)
		}
	}
	began := time.Now()
	result, err := g.Call(t.Context(), inv)
	took := time.Since(began)
	if err != nil || result.Text() != "ok" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	if len(told) <= Limits.LogLines || told[Limits.LogLines-1] != "0000100" || !slices.IsSorted(told) {
		t.Errorf("%d reports came: %.2000q", len(told), told)
	}
	if !slices.Contains(told, "0500001") {
		t.Errorf("the first report after a while did not come: %q", told[Limits.LogLines:])
	}
	if last := told[len(told)-1]; last != "1000000" {
		t.Errorf("the last report is %s", last)
	}
	if most := Limits.LogLines + 1 + int(took/plugins.ReportEvery); len(told) > most {
		t.Errorf("%d reports came in %s; at most %d may", len(told), took, most)
	}
	if len(told)+dropped != flood {
		t.Errorf("%d reports came and %d were dropped, of %d", len(told), dropped, flood)
	}
}

// testProgressAtOnce has a guest that goes on only when its report has come.
func testProgressAtOnce(t *testing.T, s *Suite) {
	t.Helper()
	g := s.load(t, "report_ask", patient)
	told := make(chan abi.Progress, 1)
	inv := g.asking(func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		select {
		case p := <-told:
			return Echoing(fmt.Sprint(p.Done, " of ", p.Total))(ctx, r)
		case <-time.After(testenv.Patience):
			return abi.Answer{}, abi.Errorf(abi.CodeTimeout, "the report is held back")
		}
	})
	inv.Report = func(p abi.ProgressHead) { told <- *p.Progress }
	result, err := g.Call(t.Context(), inv)
	if err != nil || result.Text() != "0.5 of 1" {
		t.Errorf("got %q, %v", result.Text(), err)
	}
}
