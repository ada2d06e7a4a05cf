package engine

import "testing"

// TestMemoryOfOtherSystems runs the memories that are slices, which is what
// those are that no address space can be had for.
func TestMemoryOfOtherSystems(t *testing.T) {
	const limit = 1 << 62
	l, ok := (&slot{owner: &memories{limit: limit}}).Allocate(0, limit).(*linear)
	if !ok || l.reserved {
		t.Fatal("four exabytes of address space are there")
	}
	b := l.Reallocate(2 * pageSize)
	b[0], b[2*pageSize-1] = 1, 2
	b = l.Reallocate(9 * pageSize)
	if len(b) != 9*pageSize || b[0] != 1 || b[2*pageSize-1] != 2 || !isZero(b[2*pageSize:]) {
		t.Error("growing changed what was there")
	}
	if l.Reallocate(limit+1) != nil {
		t.Error("it grew over its limit")
	}
	l.Free()
}

// TestRecycledMemoryIsZero fills memories that are handed on.
func TestRecycledMemoryIsZero(t *testing.T) {
	m := &memories{limit: 8 * mib, keep: 1}
	for _, size := range []uint64{pageSize, 3 * pageSize, 2 * mib, pageSize, 8 * mib} {
		l, _ := (&slot{owner: m}).Allocate(0, 8*mib).(*linear)
		b := l.Reallocate(size)
		if !isZero(b) {
			t.Errorf("a memory of %d bytes is not clean", size)
		}
		for i := range b {
			b[i] = 0xff
		}
		l.Free()
	}
	m.drop()
}
