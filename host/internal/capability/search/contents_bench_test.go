package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// classes are kinds of patterns that take different ways through the engine.
var classes = []struct {
	name string
	args abi.ContentsArgs
}{
	{"rare literal", abi.ContentsArgs{Pattern: "ErrUnexpectedEOF"}},
	{"common literal", abi.ContentsArgs{Pattern: "return"}},
	{"no case", abi.ContentsArgs{Pattern: "errunexpectedeof", CaseInsensitive: true}},
	{"with literal", abi.ContentsArgs{Pattern: `func \w+\(ctx context`}},
	{"without literal", abi.ContentsArgs{Pattern: `[A-Z]\w+\d{3}`}},
	{"inner literal", abi.ContentsArgs{Pattern: `\w+Reader\s+struct`}},
	{"alternation", abi.ContentsArgs{Pattern: "unlikely|TODO|FIXME|panicked"}},
	{"no match", abi.ContentsArgs{Pattern: "nosuchthing"}},
}

// BenchmarkContents sets the search against ripgrep, in process against a process,
// on Go's own sources or the tree that TOOLQUAY_BENCH_TREE names. The other ripgrep
// is the one that TOOLQUAY_BENCH_RG names.
func BenchmarkContents(b *testing.B) {
	dir := benchTree(b)
	tools := map[string]string{"rg": testenv.NeedTool(b, "rg"), "rg-other": os.Getenv("TOOLQUAY_BENCH_RG")}
	for _, mode := range []string{abi.ModeFiles, abi.ModeCount} {
		for _, c := range classes {
			a := c.args
			a.Mode, a.Limit = mode, 100_000
			b.Run(mode+"/"+c.name+"/ours", func(b *testing.B) {
				for b.Loop() {
					if _, _, err := call(b, dir, abi.CapSearchContents, a, all); err != nil {
						b.Fatal(err)
					}
				}
			})
			for name, path := range tools {
				if path == "" {
					continue
				}
				b.Run(mode+"/"+c.name+"/"+name, func(b *testing.B) {
					for b.Loop() {
						cmd := exec.CommandContext(b.Context(), path, append([]string{"--no-config", "--hidden", "--no-messages", "-g!.git"}, arguments(a)...)...)
						cmd.Dir = dir
						if _, err := cmd.Output(); err != nil && cmd.ProcessState.ExitCode() != 1 {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func benchTree(b *testing.B) string {
	b.Helper()
	if dir := os.Getenv("TOOLQUAY_BENCH_TREE"); dir != "" {
		return dir
	}
	out, err := exec.CommandContext(b.Context(), testenv.NeedTool(b, "go"), "env", "GOROOT").Output()
	if err != nil {
		testenv.Missing(b, "Go with its sources: "+err.Error())
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}
