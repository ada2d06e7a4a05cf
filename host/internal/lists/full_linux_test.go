package lists_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// On a full disk everything is as it was, and said so; what is deleted makes room again.
func TestFullDisk(t *testing.T) {
	dir := testenv.SmallDisk(t, 128<<10)
	if dir == "" {
		return
	}
	r := newRoom(t)
	r.dir = dir
	r.reopen()
	long := strings.Repeat("x", 10_000)
	var err error
	made := 0
	for ; err == nil; made++ {
		_, err = r.Create(t.Context(), &abi.WorkChange{Subject: new("a"), Description: &long}, nil)
	}
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "no task was made") || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		t.Errorf("got %v", err)
	}
	before := r.all()
	if n := strings.Count(before, "pending"); n != made-1 || n < 2 {
		t.Errorf("%d tasks are there, of %d", n, made-1)
	}
	longer := strings.Repeat("y", 20_000)
	if _, err := r.Update(t.Context(), "1", &abi.WorkChange{Subject: new("b"), Description: &longer}, "main", nil); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "task 1 is as it was") {
		t.Errorf("got %v", err)
	}
	if got := r.all(); got != before || strings.Contains(strings.Join(r.files(), " "), ".tmp-") {
		t.Errorf("it is\n%s\nwith %q", got, r.files())
	}
	for range 2 {
		for _, id := range []string{"2", "1"} {
			r.change(id, `{"status":"deleted"}`)
		}
	}
	r.create("there is room")
}

// A list that nothing can be written in is read, and not changed.
func TestReadOnly(t *testing.T) {
	r := newRoom(t)
	r.dir = testenv.ReadOnlyDisk(t, func(dir string) {
		r.dir = dir
		r.reopen()
		r.create("a", "b")
	})
	if r.dir == "" {
		return
	}
	r.reopen()
	if got, want := r.all(), "1 a pending  [] []\n2 b pending  [] []"; got != want {
		t.Errorf("got\n%s", got)
	}
	if _, err := r.Create(t.Context(), &abi.WorkChange{Subject: new("c")}, nil); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "could not be changed") {
		t.Errorf("got %v", err)
	}
	if got := r.change("1", `{"status":"deleted"}`); !strings.HasPrefix(got, "io: the list of tasks could not be changed") {
		t.Errorf("got %s", got)
	}
}
