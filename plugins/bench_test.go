package plugins_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolquay/toolquay/plugins"
)

// installed makes a directory of plugins, each of which differs from the others.
func installed(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := range n {
		name := fmt.Sprintf("plugin-%d", i)
		module, err := plugins.AppendCustomSection(fixture(tb, "ok"), "test", []byte(name))
		if err != nil {
			tb.Fatal(err)
		}
		folder(tb, dir, name, manifest(name, "", fmt.Sprintf("Tool%d", i)), module)
	}
	return dir
}

// BenchmarkOpen1000 opens a directory of a thousand plugins and finds one tool
// in it: without an index, and with one.
func BenchmarkOpen1000(b *testing.B) {
	dir := installed(b, 1000)
	time.Sleep(rest)
	for name, cache := range map[string]string{"cold": "", "warm": filepath.Join(b.TempDir(), "cache")} {
		b.Run(name, func(b *testing.B) {
			find := func() {
				_, o := counting()
				o.Sources, o.CacheDir = []plugins.Source{user(dir)}, cache
				set, err := plugins.Open(o)
				if err != nil {
					b.Fatal(err)
				}
				tool(b, set, "Tool500")
				if err := set.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			find()
			b.ReportAllocs()
			for b.Loop() {
				find()
			}
		})
	}
}

// rest is how long files must have been left alone for an index to trust them.
const rest = 2100 * time.Millisecond
