package scheduler

import (
	"fmt"
	"testing"
)

// A job that is cancelled while it waits for its locks does not keep their names.
func TestCancelledForgetLocks(t *testing.T) {
	t.Parallel()
	e := locked(false, "w:a")
	q := &queue{rechecked: e}
	q.active.locks.resolve(e)
	q.cancel(e, ErrClosed)
	if n := users(q.active.locks.root); n != 0 {
		t.Errorf("%d users remain", n)
	}
}

// A claim is found by the locks that have a conflict with it, once.
func TestClaims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claims []string
		lock   string
		want   bool
	}{
		{[]string{"r:a"}, "r:a", false},
		{[]string{"r:a"}, "w:a", true},
		{[]string{"w:a"}, "r:a", true},
		{[]string{"r:a/b", "r:a/c"}, "w:a", true},
		{[]string{"r:a/b"}, "w:a/b/c/d", true},
		{[]string{"r:a/b"}, "w:a/c", false},
		{[]string{"w:a/b"}, "r:", true},
	} {
		var table lockTable
		e := locked(true, c.claims...)
		table.enter(e)
		table.claim(e)
		table.leave(e, heldSafe)
		lock := locked(false, c.lock)
		if table.conflict(lock, heldEffects) {
			t.Errorf("%s waits for the effects of %v", c.lock, c.claims)
		}
		if got := len(table.claimed(lock)) == 1; got != c.want {
			t.Errorf("%s finds %v: %v, want %v", c.lock, c.claims, got, c.want)
		}
		if again := table.claimed(lock); len(again) != 0 {
			t.Errorf("%s finds %v twice", c.lock, c.claims)
		}
		if !c.want {
			table.release(e)
		}
		table.forget(lock)
		if n := users(table.root); n != 0 || table.root.within != (tally{}) {
			t.Errorf("%+v and %d users remain", table.root.within, n)
		}
	}
}

// A name that is always claimed by somebody does not keep the others who claimed it.
func TestClaimsLetGo(t *testing.T) {
	t.Parallel()
	var under active
	held := effects{locks: &under.locks}
	hold := func(locks ...string) {
		e := locked(true, locks...)
		under.enter(e)
		held.hold(e)
		under.leave(e)
	}
	hold("r:config")
	for i := range 1000 {
		own := fmt.Sprintf("file%d", i)
		hold("r:config", "r:"+own)
		if due := held.takeDue(locked(false, "w:"+own)); len(due) != 1 {
			t.Fatalf("%d are due, want 1", len(due))
		}
	}
	node := under.locks.find("config")
	if n := len(node.done[0]); n > 3*spareEffects {
		t.Errorf("%d jobs that claimed a name remain", n)
	}
	if n := len(held.locked); n > 3*spareEffects {
		t.Errorf("%d jobs whose effects are applied remain", n)
	}
	if due := held.takeAll(); len(due) != 1 {
		t.Errorf("%d are due in the end, want 1", len(due))
	}
}
