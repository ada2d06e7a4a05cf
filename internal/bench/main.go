package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

func main() {
	testing.Init()
	benchtime := flag.String("benchtime", "1s", "how long each case runs, or how often (100x)")
	count := flag.Int("count", 3, "how often each case is measured; the median counts")
	flag.Parse()
	if err := flag.Set("test.benchtime", *benchtime); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if err := run(*count); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(count int) error {
	lab, err := newLab()
	if err != nil {
		return err
	}
	defer lab.close()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\ttime\tbaseline\ttime\tratio\tlimit")
	for _, r := range rows() {
		if why := r.missing(); why != "" {
			fmt.Fprintf(w, "%s\t-\t%s\t-\t-\t%s\n", r.name, r.baseline, why)
			continue
		}
		// Interleaved, so that a slow moment of the machine meets both.
		var ours, theirs []time.Duration
		for range count {
			ours = append(ours, measure(func(b *testing.B) { b.Helper(); r.ours(b, lab) }))
			theirs = append(theirs, measure(func(b *testing.B) { b.Helper(); r.theirs(b, lab) }))
		}
		a, b := median(ours), median(theirs)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.name, short(a), r.baseline, short(b), r.compare(a, b), r.limit)
	}
	return w.Flush()
}

func measure(f func(*testing.B)) time.Duration {
	result := testing.Benchmark(f)
	if result.N == 0 {
		fmt.Fprintln(os.Stderr, "bench: a case failed; go test -bench . ./internal/bench says why")
		os.Exit(1)
	}
	return result.T / time.Duration(result.N)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// short writes a time with three digits that count.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2f µs", float64(d)/1e3)
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}

// ratio is how many times the baseline's time ours takes.
func ratio(ours, theirs time.Duration) string {
	return fmt.Sprintf("%.2fx", float64(ours)/float64(theirs))
}

// difference is what ours adds to the baseline.
func difference(ours, theirs time.Duration) string {
	if ours < theirs {
		return "+0"
	}
	return "+" + short(ours-theirs)
}
