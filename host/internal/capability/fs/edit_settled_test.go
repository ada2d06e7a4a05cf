package fs

import (
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// overwrite writes over a file's bytes, in the same file.
func overwrite(tb testing.TB, path, text string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		tb.Fatal(err)
	}
}

// TestEditOfWhatWasJustWritten loses nothing that somebody writes with the same size
// while a file is edited that was itself written just before, mostly in one step of the
// file system's clock.
func TestEditOfWhatWasJustWritten(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in memory": 100, "not in memory": wholeSize + 2} {
		for _, op := range []string{abi.CapFSReplace, abi.CapFSWrite} {
			t.Run(name+" "+op, func(t *testing.T) {
				t.Parallel()
				rounds := 20
				if size > wholeSize {
					rounds = 2
				}
				dir := realDir(t)
				text := "one\n" + strings.Repeat("x", size)
				for range rounds {
					path, know := write(t, dir, "f", text), knowledge{}
					know.see(t, path)
					h := &past{then: func() { overwrite(t, path, "ONE") }}
					parts := []string{"one", "1"}
					if op == abi.CapFSWrite {
						parts = []string{"new"}
					}
					_, err := edit(t, capability.Scope{Cwd: dir, Files: know, History: h}, op, abi.ReplaceArgs{Path: "f"}, parts...)
					if abi.CodeOf(err) != abi.CodeChanged || len(h.voided) != 1 || !strings.HasPrefix(slurp(t, path), "ONE\n") {
						t.Fatalf("%v, %d taken back in the history; it begins with %.10q", err, len(h.voided), slurp(t, path))
					}
				}
			})
		}
	}
}

// TestUnsettledIsCompared looks at the content where the stamp would not show that it is
// another, and only there.
func TestUnsettledIsCompared(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in memory": 100, "not in memory": wholeSize + 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := realDir(t)
			path := write(t, dir, "f", "one\n"+strings.Repeat("x", size))
			p, err := New(Options{}).planEdit(capability.Scope{Cwd: dir}, abi.Request{}, "f", "", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			o, err := p.open()
			if err != nil {
				t.Fatal(err)
			}
			defer o.close()
			o.stamp.Taken = o.stamp.ModTime // however slow the machine is
			if err := o.mark(); err != nil {
				t.Fatal(err)
			}
			if err := o.unchanged(); err != nil {
				t.Errorf("as it was: %v", err)
			}
			overwrite(t, path, "ONE")
			if err := o.unchanged(); abi.CodeOf(err) != abi.CodeChanged {
				t.Errorf("written over: %v", err)
			}
			o.stamp.Taken = o.stamp.Taken.AddDate(1, 0, 0)
			if err := o.unchanged(); err != nil {
				t.Errorf("its stamp would show it: %v", err)
			}
		})
	}
}
