package fs

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// mapped is a file's content in memory. What is written to it, once it was written to
// before, changes the file and none of its times.
func mapped(tb testing.TB, path string) []byte {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	content, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = unix.Munmap(content) })
	content[0] = 'o'
	later := time.Now().Add(time.Hour) // so that it counts as just written on a slow machine, too
	if err := os.Chtimes(path, later, later); err != nil {
		tb.Fatal(err)
	}
	return content
}

// TestEditUnderAMapping notices what somebody writes without any stamp showing it, as
// long as the file was written just before.
func TestEditUnderAMapping(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in memory": 100, "not in memory": wholeSize + 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, know := realDir(t), knowledge{}
			path := write(t, dir, "f", "one\n"+strings.Repeat("x", size))
			content := mapped(t, path)
			know.see(t, path)
			h := &past{then: func() { copy(content, "ONE") }}
			_, err := edit(t, capability.Scope{Cwd: dir, Files: know, History: h}, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "one", "1")
			if abi.CodeOf(err) != abi.CodeChanged || len(h.voided) != 1 || !strings.HasPrefix(slurp(t, path), "ONE\n") {
				t.Errorf("%v, %d taken back in the history; it begins with %.10q", err, len(h.voided), slurp(t, path))
			}
		})
	}
}
