package warm_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/warm"
)

// BenchmarkTrue is the shortest command: in a shell that is ready, in one that must be
// started first, and in a sandbox of its own.
func BenchmarkTrue(b *testing.B) {
	r := &warm.Request{Env: environment(), Dir: "/", Command: "true", Stdout: io.Discard, Stderr: io.Discard}
	run := func(pool *warm.Pool) {
		if _, err := pool.Run(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("warm", func(b *testing.B) {
		pool := newPool(b, warm.Options{})
		run(pool)
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			run(pool)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2]), "median-ns")
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			pool := warm.New(warm.Options{Start: launch})
			run(pool)
			pool.Close()
		}
	})
	b.Run("one-shot", func(b *testing.B) {
		for b.Loop() {
			oneShot(b, "/", "true")
		}
	})
}
