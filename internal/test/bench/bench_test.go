package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/process"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/worker"
)

func TestMain(m *testing.M) {
	worker.Main()  // returns, unless this process was started to compile
	process.Main() // returns, unless it was started to keep commands
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

// TestRows runs every kind of case once, so that none stops working unseen.
func TestRows(t *testing.T) {
	old := flag.Lookup("test.benchtime").Value.String()
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		t.Fatal(err)
	}
	defer flag.Set("test.benchtime", old)
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
