//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/test/escapes"
)

// BenchmarkWrap is what a sandbox costs before anything runs.
func BenchmarkWrap(b *testing.B) {
	w := escapes.New(b)
	s := find(b, sandbox.Options{State: w.State, Home: w.Home})
	for b.Loop() {
		wrapped, err := s.Wrap(b.Context(), specOf(w), []string{"true"})
		if err != nil {
			b.Fatal(err)
		}
		if err := wrapped.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun is a whole sandboxed command.
func BenchmarkRun(b *testing.B) {
	w := escapes.New(b)
	s := find(b, sandbox.Options{State: w.State, Home: w.Home})
	for b.Loop() {
		if out, err := run(b, s, specOf(w), w.Env, "true"); err != nil {
			b.Fatal(err, out)
		}
	}
}
