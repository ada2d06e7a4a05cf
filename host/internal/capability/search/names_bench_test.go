package search

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// BenchmarkNames sets the search by name against fd on Go's own sources.
func BenchmarkNames(b *testing.B) {
	out, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		testenv.Missing(b, "Go with its sources: "+err.Error())
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "src")
	for _, c := range []struct{ name, pattern, fd string }{
		{"all", "**", "*"}, {"suffix", "**/*.go", "*.go"}, {"none", "**/*.nothing", "*.nothing"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := call(b, dir, abi.CapSearchNames, abi.NamesArgs{Pattern: c.pattern, Limit: 100}, all); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+" by fd", func(b *testing.B) {
			fd := fdProgram(b)
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), fd, "--hidden", "--no-ignore", "--type=f", "--glob", c.fd)
				cmd.Dir = dir
				if _, err := cmd.Output(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fdProgram is fd, which Debian calls fdfind.
func fdProgram(tb testing.TB) string {
	tb.Helper()
	if path, err := exec.LookPath("fd"); err == nil {
		return path
	}
	return testenv.NeedTool(tb, "fdfind")
}
