//go:build unix

package fs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// A link that changes between Plan and Do changes nothing.
func TestSwapBetweenPlanAndDo(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "good", "good")
	write(t, dir, "secret", "secret")
	link := filepath.Join(dir, "link")
	if err := os.Symlink("good", link); err != nil {
		t.Fatal(err)
	}
	p, err := plan(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "link", Lines: &abi.LineArgs{}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Accesses()[0]; got.Target != link || got.Real != filepath.Join(dir, "good") {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret", link); err != nil {
		t.Fatal(err)
	}
	a, err := p.Do(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	buf := make([]byte, 10)
	if n, _ := a.Body.Read(buf); string(buf[:n]) != "good" {
		t.Errorf("read %q", buf[:n])
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := call(t, dir, abi.CapFSRead, abi.ReadArgs{Path: "fifo"}, all)
		done <- err
	}()
	select {
	case err := <-done:
		if abi.CodeOf(err) != abi.CodeNotRegular {
			t.Error(err)
		}
	case <-time.After(testenv.Patience):
		t.Fatal("reading a FIFO hangs")
	}
	ok, _, err := call(t, dir, abi.CapFSStat, abi.StatArgs{Path: "fifo"}, all)
	if got, _ := ok.(abi.StatOK); err != nil || got.Kind != abi.KindOther {
		t.Errorf("%+v, %v", ok, err)
	}
}
