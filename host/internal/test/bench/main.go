package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/host"
)

func main() {
	host.Main() // returns, unless it was started to compile or to supervise commands
	testing.Init()
	benchtime := flag.String("benchtime", "1s", "how long each case runs, or how often (100x)")
	count := flag.Int("count", 3, "how often each case is measured; the median counts")
	only := flag.String("run", "", "the rows to measure, a regular expression; empty: all")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -run:", err)
		os.Exit(2)
	}
	if err := flag.Set("test.benchtime", *benchtime); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if err := run(chosen, *count); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(chosen *regexp.Regexp, count int) error {
	lab, err := newLab()
	if err != nil {
		return err
	}
	defer lab.close()
	list := slices.DeleteFunc(rows(), func(r row) bool { return !chosen.MatchString(r.name) })
	newTable(os.Stdout, list).measure(lab, list, count)
	return nil
}

// measure measures the rows and prints each as soon as it is: all of them take a quarter
// of an hour.
func (t *table) measure(lab *lab, list []row, count int) {
	var all averages
	for _, r := range list {
		if why := r.missing(); why != "" {
			t.line(r.name, "-", r.baseline, "-", "-", why)
			continue
		}
		a, b := r.measure(lab, count)
		all.add(r, a, b)
		t.line(r.name, r.write(a), r.baseline, r.write(b), r.compare(a, b), r.limit)
	}
	all.write(t)
}

// table is what is printed.
type table struct {
	w               io.Writer
	names, baseline int // the widths of these columns
}

func newTable(w io.Writer, list []row) *table {
	t := &table{w: w}
	for _, r := range list {
		t.names, t.baseline = max(t.names, utf8.RuneCountInString(r.name)), max(t.baseline, utf8.RuneCountInString(r.baseline))
	}
	t.line("what", "time", "baseline", "time", "ratio", "limit")
	return t
}

func (t *table) line(name, ours, baseline, theirs, ratio, limit string) {
	fmt.Fprintf(t.w, "%-*s  %-10s  %-*s  %-10s  %-14s  %s\n", t.names, name, ours, t.baseline, baseline, theirs, ratio, limit)
}

// fineTurns is how often each side of a fine row is measured, and fineTime for
// how long each time. On a machine that does other things too, many short turns
// have one among them that nothing disturbed.
const (
	fineTurns = 120
	fineTime  = "5ms"
)

// measure measures both sides of a row in turns, so that a slow moment of the
// machine meets both.
func (r row) measure(l *lab, count int) (ours, theirs time.Duration) {
	settle := median
	if r.fine {
		defer setBenchtime(setBenchtime(fineTime))
		count, settle = fineTurns, slices.Min[[]time.Duration]
	}
	var a, b []time.Duration
	for range count {
		a = append(a, measure(func(b *testing.B) { b.Helper(); r.ours(b, l) }))
		b = append(b, measure(func(b *testing.B) { b.Helper(); r.theirs(b, l) }))
	}
	return settle(a), settle(b)
}

// setBenchtime returns what the time was before.
func setBenchtime(d string) string {
	f := flag.Lookup("test.benchtime")
	old := f.Value.String()
	// Not what the user wrote, but what f itself says or a constant.
	_ = f.Value.Set(d)
	return old
}

func measure(f func(*testing.B)) time.Duration {
	result := testing.Benchmark(f)
	if result.N == 0 {
		fmt.Fprintln(os.Stderr, "bench: a case failed; go test -bench . ./internal/test/bench says why")
		os.Exit(1)
	}
	if own, ok := result.Extra[ownTime]; ok {
		return time.Duration(own)
	}
	return result.T / time.Duration(result.N)
}

// ownTime is the unit of what a case measures itself, in nanoseconds.
const ownTime = "own-ns/op"

// reportTime replaces what a case took by what it measured.
func reportTime(b *testing.B, d time.Duration) { b.ReportMetric(float64(d), ownTime) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// mebibytes writes what reportBytes reported.
func mebibytes(n time.Duration) string { return fmt.Sprintf("%.1f MiB", float64(n)/mib1) }

// reportBytes replaces what a case took by an amount of memory.
func reportBytes(b *testing.B, n uint64) { reportTime(b, time.Duration(n)) }

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

// faster is how many times ours goes into the baseline's time.
func faster(ours, theirs time.Duration) string {
	return fmt.Sprintf("%.0fx faster", float64(theirs)/float64(ours))
}

// times is how many times ours goes into the baseline's time, where it is a few.
func times(ours, theirs time.Duration) string {
	return fmt.Sprintf("%.2fx as fast", float64(theirs)/float64(ours))
}

// share is what part of the baseline ours is.
func share(ours, theirs time.Duration) string {
	return fmt.Sprintf("%.0f%%", 100*float64(ours)/float64(theirs))
}

// rate is how much of something goes through in a second.
func rate(size int, d time.Duration) string {
	return fmt.Sprintf("%.0f MB/s", float64(size)/1e6/d.Seconds())
}
