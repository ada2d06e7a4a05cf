package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// locked is an entry with locks, written as "r:name" and "w:name".
func locked(safe bool, locks ...string) *entry {
	e := &entry{traits: Traits{Safe: safe, Locked: true}}
	for _, l := range locks {
		kind, name, _ := strings.Cut(l, ":")
		e.traits.Locks = append(e.traits.Locks, Lock{Name: name, Write: kind == "w"})
	}
	return e
}

func TestLockConflicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"r:a", "r:a", false},
		{"r:a", "w:a", true},
		{"w:a", "w:a", true},
		{"w:a", "w:b", false},
		{"w:a", "r:a/b", true},
		{"r:a", "w:a/b/c", true},
		{"r:a", "r:a/b/c", false},
		{"w:a", "w:ab", false},
		{"w:a/b", "w:a/c", false},
		{"w:a/b", "w:ab", false},
		{"w:", "r:a/b", true},
		{"w:/", "r:", true},
		{"r:/", "r:x", false},
		{"w:/a/", "r:a", true},
		{"w:a//", "r:a", true},
		{"w:a//b", "r:a/b", false},
		{"w:a//b", "r:a", true},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			var table lockTable
			holds := locked(false, pair[0])
			table.enter(holds)
			asks := locked(false, pair[1])
			if got := table.conflict(asks, heldEffects); got != c.want {
				t.Errorf("%s beside %s: conflict %v, want %v", pair[1], pair[0], got, c.want)
			}
			table.leave(holds, heldUnsafe)
			if table.conflict(asks, heldEffects) {
				t.Errorf("%s has a conflict with nothing, after %s", pair[1], pair[0])
			}
		}
	}
}

// Safe ones do not ask about each other.
func TestLockHolders(t *testing.T) {
	t.Parallel()
	var table lockTable
	table.enter(locked(true, "w:a"))
	asks := locked(true, "w:a")
	if table.conflict(asks, heldSafe) {
		t.Error("a conflict of safe ones")
	}
	if !table.conflict(asks, heldEffects) {
		t.Error("no conflict with a safe one")
	}
}

func TestLocksCovered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		locks, by []string
		want      bool
	}{
		{nil, nil, true},
		{nil, []string{"w:a"}, true},
		{[]string{"r:a"}, nil, false},
		{[]string{"r:a"}, []string{"r:a"}, true},
		{[]string{"r:a"}, []string{"w:a"}, true},
		{[]string{"w:a"}, []string{"r:a"}, false},
		{[]string{"w:a/b"}, []string{"w:a"}, true},
		{[]string{"w:a"}, []string{"w:a/b"}, false},
		{[]string{"r:a", "r:b"}, []string{"r:b", "w:a", "r:c"}, true},
		{[]string{"r:a", "r:d"}, []string{"r:b", "w:a", "r:c"}, false},
	} {
		if got := covered(locked(false, c.locks...).traits.Locks, locked(false, c.by...).traits.Locks); got != c.want {
			t.Errorf("%v by %v: %v, want %v", c.locks, c.by, got, c.want)
		}
	}
}

// Random locks come and go; the table answers as a list of them would, and is empty
// when they are gone.
func TestLockTableModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	name := func() string {
		parts := make([]string, r.IntN(5))
		for i := range parts {
			parts[i] = string(rune('a' + r.IntN(4)))
		}
		return strings.Join(parts, "/")
	}
	var table lockTable
	var held []*entry
	conflicts := 0
	for range 20_000 {
		e := locked(r.IntN(2) == 0)
		for range r.IntN(4) {
			e.traits.Locks = append(e.traits.Locks, Lock{Name: name(), Write: r.IntN(3) == 0})
		}
		want := slices.ContainsFunc(held, func(o *entry) bool { return overlap(e.traits.Locks, o.traits.Locks) })
		if got := table.conflict(e, heldEffects); got != want {
			t.Fatalf("%v beside %d others: conflict %v, want %v", e.traits.Locks, len(held), got, want)
		}
		if want {
			conflicts++
			table.forget(e)
		} else {
			table.enter(e)
			held = append(held, e)
		}
		for len(held) > 0 && (want || len(held) > 12) {
			at := r.IntN(len(held))
			table.leave(held[at], held[at].holder())
			held = slices.Delete(held, at, at+1)
			want = r.IntN(3) > 0
		}
	}
	for _, e := range held {
		table.leave(e, e.holder())
	}
	if n := users(table.root); n != 0 || table.root.within != (tally{}) || conflicts < 1000 {
		t.Errorf("%+v and %d users remain after %d conflicts", table.root.within, n, conflicts)
	}
}

// overlap is what conflict means, pair by pair.
func overlap(a, b []Lock) bool {
	below := func(x, y string) bool { return y == "" || x == y || strings.HasPrefix(x, y+"/") }
	for _, x := range a {
		for _, y := range b {
			if (x.Write || y.Write) && (below(x.Name, y.Name) || below(y.Name, x.Name)) {
				return true
			}
		}
	}
	return false
}

// Of 10,000 locks, and of as many again, no more nodes remain than are spared.
func TestLockTableLetsGo(t *testing.T) {
	t.Parallel()
	var table lockTable
	for round := range 2 {
		var all []*entry
		for i := range 10_000 {
			e := locked(false, fmt.Sprintf("w:%d/%d/%d/file%d", round, i%7, i%89, i))
			if table.conflict(e, heldEffects) {
				t.Fatalf("lock %d has a conflict", i)
			}
			table.enter(e)
			all = append(all, e)
		}
		for _, asks := range []*entry{locked(false, "r:"), locked(false, "r:0/1/1/file1", "r:1/1/1/file1")} {
			if !table.conflict(asks, heldEffects) {
				t.Error("no conflict with what is locked")
			}
			table.forget(asks)
		}
		for _, e := range all {
			table.leave(e, heldUnsafe)
		}
		if n := count(table.root); n > 5*spareNodes || n != table.nodes+1 {
			t.Errorf("%d nodes remain, counted as %d", n, table.nodes)
		}
	}
}

// A name that is never unlocked does not keep others, deep and with few names in
// each folder.
func TestLockTableLetsGoWhileHeld(t *testing.T) {
	t.Parallel()
	var table lockTable
	table.enter(locked(true, "r:0"))
	for i := range 10_000 {
		e := locked(true, "r:"+strings.Join(strings.Split(fmt.Sprintf("%b", i), ""), "/"))
		table.enter(e)
		table.leave(e, heldSafe)
	}
	if n := count(table.root); n > 20*spareNodes {
		t.Errorf("%d nodes remain", n)
	}
}

// The folder that was found last is not taken for the one of the same name that is
// made after it was let go of.
func TestLockTableForgetsFolders(t *testing.T) {
	t.Parallel()
	var table lockTable
	for i := range 2 * spareNodes {
		table.enter(locked(false, fmt.Sprintf("w:%d", i)))
	}
	e := locked(false, "w:folder/a")
	table.enter(e)
	table.leave(e, heldUnsafe)
	table.enter(locked(false, "w:folder/b"))
	if !table.conflict(locked(false, "w:folder"), heldEffects) {
		t.Error("a lock below a name is lost")
	}
}

func count(n *lockNode) int {
	all := 1
	for _, child := range n.children {
		all += count(child)
	}
	return all
}

func users(n *lockNode) int {
	all := int(n.users)
	for _, child := range n.children {
		all += users(child)
	}
	return all
}
