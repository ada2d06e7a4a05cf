package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// manyServers is a home whose settings name that many servers that are real programs.
func manyServers(tb testing.TB, n int) (home string) {
	tb.Helper()
	home = tb.TempDir()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "[mcp.s%d]\ncommand = \"mcpserver\"\n", i)
	}
	file := filepath.Join(home, ".config", "toolquay", "settings.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return home
}

// firstLineOfStream is how long run --stream takes from its start to its first line.
func firstLineOfStream(tb testing.TB, home string) time.Duration {
	tb.Helper()
	took, _ := timeToFirstLine(tb, home, "", "run", "--stream") // it ends without a call
	return took
}

// TestFirstAnswerWithManyServers wants the first answer to be there as soon with 50 servers as
// with none: both have the bound that the start alone is held to.
func TestFirstAnswerWithManyServers(t *testing.T) {
	if testenv.Race {
		t.Log("times are bounded without the race detector")
		return
	}
	home := manyServers(t, 50)
	for name, first := range map[string]func(testing.TB, string) time.Duration{"mcp": firstAnswer, "stream": firstLineOfStream} {
		t.Run(name, func(t *testing.T) {
			testenv.InTime(t, 200*time.Millisecond, func() time.Duration { return first(t, home) })
		})
	}
}

func BenchmarkFirstAnswerWithServers(b *testing.B) {
	for _, n := range []int{0, 50} {
		home := manyServers(b, n)
		for name, first := range map[string]func(testing.TB, string) time.Duration{"mcp": firstAnswer, "stream": firstLineOfStream} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					took = append(took, first(b, home))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "us/first")
			})
		}
	}
}
