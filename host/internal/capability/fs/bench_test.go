package fs

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// BenchmarkRead4KiB sets a read by lines that the model is shown against one that it
// is not: what it costs to know what was seen.
func BenchmarkRead4KiB(b *testing.B) {
	dir := b.TempDir()
	path := write(b, dir, "f", strings.Repeat("0123456789abcdefghijklmnopqrstu\n", 128))
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, before, before); err != nil {
		b.Fatal(err)
	}
	for name, files := range map[string]capability.Knowledge{"plain": nil, "shown": &silent{}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				readShown(b, capability.Scope{Cwd: dir, Files: files}, abi.ReadArgs{Path: "f", Lines: &abi.LineArgs{Limit: 2000, Number: true}})
			}
		})
	}
}

// silent knows nothing and is told all.
type silent struct{ notes }

func (*silent) Shown(string, string, capability.ReadState)  {}
func (*silent) Again(string, string, capability.Stamp) bool { return false }
