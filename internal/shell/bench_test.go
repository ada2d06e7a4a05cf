package shell

import "testing"

func BenchmarkAnalyse(b *testing.B) {
	for _, text := range []string{
		"ls",
		"git status && ls -la | head",
		`grep -rn "func main" --include=*.go . | sort | head -20`,
		`cd sub && for f in *.go; do echo "$f"; wc -l < a; done 2>&1`,
		"rm 'x",
	} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyse(text, testPlace)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Analyse(text, testPlace)
			}
		})
	}
}
