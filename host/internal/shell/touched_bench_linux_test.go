package shell_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/shell"
)

// BenchmarkHistory compares sandboxed commands with and without a history, alternately.
func BenchmarkHistory(b *testing.B) {
	for name, command := range map[string]string{
		"Nothing": "touch /tmp/x", "OneFile": "date +%N > f", "ManyFiles": "mkdir many && cd many && for i in {1..10000}; do : >$i; done && cd .. && rm -r many",
		"ManyKept": "rm -rf many; mkdir many; cd many; for i in {1..10000}; do echo $RANDOM > $i; done", "GoTest": "echo \"// $RANDOM\" >> p.go; GOCACHE=$PWD/../temp/cache go test . > /dev/null",
	} {
		b.Run(name, func(b *testing.B) {
			s := newSession(b)
			c := newShell(b, s.sandboxed())
			dir := filepath.Join(filepath.Dir(s.dir), "history")
			if err := os.Mkdir(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			for file, text := range map[string]string{
				"go.mod": "module example.com/p\n\ngo 1.24\n", "p.go": "package p\n", "p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestP(*testing.T) {}\n",
			} {
				if err := os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			h := history.Open(dir, history.Options{})
			args, _ := json.Marshal(abi.ShellArgs{Command: command, Timeout: 600_000})
			with, without := sample{}, sample{}
			for b.Loop() {
				s.history = nil
				without.add(b, s, c, args)
				s.history = h
				with.add(b, s, c, args)
			}
			b.ReportMetric(without.median(), "ms-without")
			b.ReportMetric(with.median(), "ms-with")
			b.ReportMetric(with.median()/without.median(), "x")
		})
	}
}

// sample holds the times that calls took.
type sample []float64

func (t *sample) add(b *testing.B, s *session, c *shell.Capability, args json.RawMessage) {
	b.Helper()
	began := b.Elapsed()
	if ok := s.call(b, c, args); ok.Exit != 0 {
		b.Fatalf("it ended with %d: %s", ok.Exit, ok.Note)
	}
	*t = append(*t, float64((b.Elapsed()-began).Microseconds())/1000)
}

func (t sample) median() float64 {
	sorted := append(sample(nil), t...)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
