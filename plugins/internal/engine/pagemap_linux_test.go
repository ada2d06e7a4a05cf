package engine

import (
	"testing"
)

func TestOwnPages(t *testing.T) {
	const others = 1<<58 - 1 | 1<<55 | 1<<56 | 1<<57 // where it is, soft-dirty, exclusive, guarded
	for entry, own := range map[uint64]bool{
		0:                        false,
		pagePresent:              true,
		pageSwapped:              true, // or being moved
		pagePresent | pageOfFile: false,
		pageSwapped | pageOfFile: false,
		pageOfFile:               false,
	} {
		for _, more := range []uint64{0, others} {
			if got := isOwn(entry | more); got != own {
				t.Errorf("of %#x it is said that it is the process's own: %v; want %v", entry|more, got, own)
			}
		}
	}
}

// TestPagemapsThatDoNotTell are not relied on.
func TestPagemapsThatDoNotTell(t *testing.T) {
	needPagemap(t)
	system := processPages()
	if !tells(system.read) {
		t.Error("the system's own does not tell any more")
	}
	for name, lie := range map[string]func(entries []uint64) bool{
		"cannot be read":         func([]uint64) bool { return false },
		"knows of none":          func(e []uint64) bool { return set(e, func(uint64) uint64 { return 0 }) },
		"knows of what is there": func(e []uint64) bool { return set(e, func(was uint64) uint64 { return was &^ pageOfFile }) },
		"takes all for files":    func(e []uint64) bool { return set(e, func(was uint64) uint64 { return was | pageOfFile }) },
		"sees what was changed":  func(e []uint64) bool { e[4] = 0; return true },
	} {
		if tells(func(entries []uint64, from *byte) bool { return system.read(entries, from) && lie(entries) }) {
			t.Errorf("one that %s is relied on", name)
		}
	}
	if noPagemap.read(make([]uint64, 1), new(byte)) {
		t.Error("what is not open can be read")
	}
}

func set(entries []uint64, to func(uint64) uint64) bool {
	for i, was := range entries {
		entries[i] = to(was)
	}
	return true
}
