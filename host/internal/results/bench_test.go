package results_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
)

// BenchmarkFit is what fitting a result costs: short and long ones, one that is
// persisted, and a turn of which half is.
func BenchmarkFit(b *testing.B) {
	call := results.Call{Tool: "T"}
	for _, n := range []int{100, 4 << 10, 40_000} {
		b.Run(fmt.Sprint(n, " characters"), func(b *testing.B) {
			k := without(results.Options{})
			content := []abi.Block{abi.TextBlock(lines("x", n))}
			b.ReportAllocs()
			for b.Loop() {
				rs := []abi.ToolResult{{ToolUseID: "1", Content: content}}
				turn(k, call, rs)
			}
		})
	}
	for _, n := range []int{100, 4 << 10} {
		b.Run(fmt.Sprint("alone, ", n, " characters"), func(b *testing.B) {
			k := without(results.Options{})
			content := []abi.Block{abi.TextBlock(lines("x", n))}
			b.ReportAllocs()
			for b.Loop() {
				k.Fit(call, &abi.ToolResult{ToolUseID: "1", Content: content})
			}
		})
	}
	b.Run("persisted", func(b *testing.B) {
		k := keep(b, sessions(b), results.Options{})
		long := lines("x", 60_000)
		for i := 0; b.Loop(); i++ {
			rs := []abi.ToolResult{text(strconv.Itoa(i), long)}
			turn(k.Store, call, rs)
		}
	})
	b.Run("ten of 40,000", func(b *testing.B) {
		k := keep(b, sessions(b), results.Options{})
		long := lines("x", 40_000)
		for i := 0; b.Loop(); i++ {
			var rs []abi.ToolResult
			for j := range 10 {
				rs = append(rs, text(fmt.Sprint(i, "-", j), long))
			}
			turn(k.Store, call, rs)
		}
	})
}
