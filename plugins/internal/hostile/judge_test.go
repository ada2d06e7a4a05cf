package hostile_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// TestJudge shows the judge cases that it must not let pass, and what it may
// have repeated: what was late, and nothing else.
func TestJudge(t *testing.T) {
	const ms = time.Millisecond
	timeout := func(took time.Duration) outcome {
		return outcome{abi.CodeTimeout, "ran longer than its limit of 200ms (limit time)", took}
	}
	good := report{Calls: []outcome{timeout(201 * ms)}}
	changed := func(change func(*report)) report {
		r := report{Calls: []outcome{timeout(201 * ms)}}
		change(&r)
		return r
	}
	lateCall := report{Calls: []outcome{timeout(451 * ms)}}
	endless, ten := outOfTime(fixture{}), outOfTime(fixture{calls: 10})
	before := fixture{deadline: 200 * ms, limit: ampleTime, code: abi.CodeTimeout}
	tests := map[string]struct {
		fixture     fixture
		seen        []report // the last one must be reached
		wrong, late string   // "" is nothing
	}{
		"good":                  {endless, []report{good}, "", ""},
		"late once":             {endless, []report{lateCall, good}, "", ""},
		"late but for the last": {endless, append(slices.Repeat([]report{lateCall}, attempts-1), good), "", ""},
		"late each time":        {endless, slices.Repeat([]report{lateCall}, attempts), "", "451ms, over 450ms"},
		"ten at once":           {ten, []report{{Calls: []outcome{timeout(700 * ms)}}}, "", ""},
		"ten at once, late":     {ten, []report{{Calls: []outcome{timeout(701 * ms)}}, good}, "", ""},
		"deadline":              {before, []report{lateCall, good}, "", ""},
		"wrong once":            {endless, []report{{Calls: []outcome{{Took: 3 * ms}}}}, `ended with ""`, ""},
		"wrong when repeated":   {endless, []report{lateCall, {Calls: []outcome{{Took: 3 * ms}}}}, `ended with ""`, ""},
		"wrong after late":      {endless, []report{{Calls: []outcome{timeout(time.Second), {Took: 3 * ms}}}}, "call 2", "1s"},
		"another error":         {endless, []report{{Calls: []outcome{{abi.CodeTimeout, "over", 3 * ms}}}}, `does not say "limit time"`, ""},
		"late load":             {endless, []report{changed(func(r *report) { r.Load.Took = 6 * time.Second }), good}, "", ""},
		"failed load":           {endless, []report{changed(func(r *report) { r.Load.Code = abi.CodeLoad })}, "does not load", ""},
		"loaded":                {refused(fixture{}), []report{good}, "it loaded", ""},
		"late by turns": {endless, []report{
			{Calls: lateCall.Calls, Pause: 51 * ms},
			lateCall,
			changed(func(r *report) { r.Pause = 51 * ms }),
		}, "", ""},
		"waited as long":       {endless, []report{changed(func(r *report) { r.Calls, r.Waited = lateCall.Calls, ms })}, "", ""},
		"waited less":          {endless, []report{changed(func(r *report) { r.Calls, r.Waited = []outcome{timeout(452 * ms)}, ms }), good}, "", ""},
		"waited, not reached":  {fixture{}, []report{changed(func(r *report) { r.Waited = time.Hour })}, `ended with "timeout"`, ""},
		"sound plugin late":    {endless, []report{changed(func(r *report) { r.Slow = 251 * ms }), good}, "", ""},
		"sound plugin stuck":   {endless, []report{changed(func(r *report) { r.Slowest = 3 * time.Second }), good}, "", ""},
		"sound plugin fails":   {endless, []report{changed(func(r *report) { r.SoundErr = "gone" })}, "gone", ""},
		"long collection":      {endless, []report{changed(func(r *report) { r.Pause = 51 * ms }), good}, "", ""},
		"memory":               {endless, []report{changed(func(r *report) { r.Peak = 129 << 20 })}, "129 MiB more, over 128 MiB", ""},
		"goroutines":           {endless, []report{changed(func(r *report) { r.Left = 5 })}, "5 goroutines", ""},
		"own end, in time":     {fixture{}, []report{{Calls: []outcome{{Took: 1999 * ms}}}}, "", ""},
		"own end, late":        {fixture{}, []report{{Calls: []outcome{{Took: 2001 * ms}}}, {Calls: []outcome{{}}}}, "", ""},
		"own end, not reached": {fixture{}, []report{{Calls: []outcome{timeout(ms)}}}, `ended with "timeout"`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := 0
			misses := 0
			v := judge(&test.fixture, func() report { n++; return test.seen[n-1] }, func(string) { misses++ })
			if n != len(test.seen) {
				t.Errorf("it was seen %d times; want %d", n, len(test.seen))
			}
			holds(t, v.wrong, test.wrong)
			holds(t, slices.Collect(maps.Values(v.late)), test.late)
			if misses < n-1 {
				t.Errorf("%d misses are told of; want %d", misses, n-1)
			}
		})
	}
}

// holds checks that the faults say part, or that there are none where it is
// empty.
func holds(t *testing.T, faults []string, part string) {
	t.Helper()
	if text := strings.Join(faults, "; "); !strings.Contains(text, part) || (part == "") != (text == "") {
		t.Errorf("found %q; want %q", text, part)
	}
}

// TestHurried: with less time to spend cases end as they do with more.
func TestHurried(t *testing.T) {
	fewer := 0
	for _, f := range fixtures() {
		h := f.hurried()
		if h.ends() < f.ends() {
			fewer++
		}
		if h.code != f.code || h.time() > f.time() || f.code != abi.CodeTimeout && h.time() != f.time() {
			t.Errorf("%s: %q within %v, hurried %q within %v", f.name, f.code, f.time(), h.code, h.time())
		}
	}
	if fewer == 0 {
		t.Error("nothing takes less time")
	}
}
