package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestMain(m *testing.M) {
	host.Main() // returns, unless it was started to compile or to supervise commands
	os.Exit(m.Run())
}

// BenchmarkTable runs every row of the table, ours and its baseline.
func BenchmarkTable(b *testing.B) {
	l, err := newLab()
	if err != nil {
		b.Fatal(err)
	}
	defer l.close()
	for _, r := range rows() {
		name := strings.ReplaceAll(r.name, " ", "-")
		b.Run(name+"/ours", func(b *testing.B) {
			need(b, r)
			b.ReportAllocs()
			r.ours(b, l)
		})
		b.Run(name+"/baseline", func(b *testing.B) {
			need(b, r)
			b.ReportAllocs()
			r.theirs(b, l)
		})
	}
}

func need(tb testing.TB, r row) {
	tb.Helper()
	if why := r.missing(); why != "" {
		testenv.Missing(tb, why)
	}
}

// TestTable prints a row before the next one is measured.
func TestTable(t *testing.T) {
	once(t)
	var text strings.Builder
	first := "" +
		"what     time        baseline  time        ratio           limit\n" +
		"a row µ  1.00 µs     other     2.00 µs     0.50x           at most 1x\n"
	taking := func(d time.Duration) func(*testing.B, *lab) {
		return func(b *testing.B, _ *lab) { reportTime(b, d) }
	}
	list := []row{
		{name: "a row µ", baseline: "other", ours: taking(1000), theirs: taking(2000), compare: ratio, limit: "at most 1x"},
		{name: "b", baseline: "baseline", compare: ratio, theirs: taking(1), ours: func(b *testing.B, _ *lab) {
			if text.String() != first {
				t.Errorf("before the second row was measured:\n%s", text.String())
			}
			reportTime(b, 1)
		}},
		{name: "c", needs: "a program that nobody has"},
	}
	newTable(&text, list).measure(nil, list, 1)
	want := first +
		"b        0.00 µs     baseline  0.00 µs     1.00x           \n" +
		"c        -                     -           -               a program that nobody has is not installed\n"
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}

// once has benchmarks run their cases once.
func once(t *testing.T) {
	t.Helper()
	old := setBenchtime("1x")
	t.Cleanup(func() { setBenchtime(old) })
}

// TestRows runs every kind of case once, so that none stops working unseen.
func TestRows(t *testing.T) {
	testenv.SkipUnlessThorough(t)
	once(t)
	l, err := newLab()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	l.small = true
	for _, r := range rows() {
		if r.sibling {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			need(t, r)
			for _, run := range []func(*testing.B, *lab){r.ours, r.theirs} {
				if testing.Benchmark(func(b *testing.B) { b.Helper(); run(b, l) }).N == 0 {
					t.Error("a case failed; go test -bench . says why")
				}
			}
		})
	}
}
