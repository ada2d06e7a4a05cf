package history_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestFullDisk fills the disk of a history while commands change files elsewhere: the commands go on, the gaps are reported,
// and what was kept is restored when there is room again.
func TestFullDisk(t *testing.T) {
	dir := testenv.SmallDisk(t, 1<<20)
	if dir == "" {
		return
	}
	r := newRoom(t, history.Options{})
	r.kept = filepath.Join(dir, "history")
	if err := os.Mkdir(r.kept, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Store = r.open(history.Options{})
	r.put("small", "small")
	r.put("first", noise(600<<10))
	r.put("second", noise(601<<10))
	c := r.command("c1")
	c.write("small", "x")
	c.write("first", "x")
	c.write("second", "x")
	if got := c.end(); !strings.Contains(got, "second (its former content could not be kept: ") || !strings.Contains(got, "no space left on device") || strings.Contains(got, "first") {
		t.Errorf("the history lacks %s", got)
	}
	if _, err := r.Restore(t.Context(), history.Selection{Call: "c1", Path: r.path("small")}, history.RestoreOptions{}); err != nil {
		t.Error(err)
	}
	r.is("small", "small")

	filler := filepath.Join(dir, "filler")
	for size := 1 << 20; size > 0; size /= 2 { // to the last byte
		f, err := os.OpenFile(filler, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write(make([]byte, size))
		_ = f.Close()
	}
	r.put("third", "third")
	c = r.command("c2")
	c.write("third", "x")
	c.write("new", "x")
	if got := c.end(); !strings.Contains(got, "no space left on device") {
		t.Errorf("the history lacks %s", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	r.put("third", "before")
	c = r.command("c3")
	c.write("third", "y")
	if got := c.end(); got != "" {
		t.Errorf("with room again the history lacks %s", got)
	}
	if _, err := r.Restore(t.Context(), history.Selection{Call: "c3"}, history.RestoreOptions{}); err != nil {
		t.Error(err)
	}
	r.is("third", "before")
	if got := r.undone(history.Selection{Call: "c1", Path: r.path("first")}); !strings.Contains(got, "first=") {
		t.Errorf("undone: %.300s", got)
	}
}
