package traits

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// Unlock makes a call one that runs alone, unless it is safe.
func (t *Traits) Unlock() { t.Locked, t.Locks, t.Links = false, nil, nil }

// settleLocks finds out what a call locks, where its tool says how. A call whose accesses
// are not all known is not locked.
func (t *Traits) settleLocks(contract *abi.Tool, by Settling) {
	if contract.Locks == "" || by.NoLocks || by.Distrust.touches(contract.Name) {
		return
	}
	named := by.Named
	if contract.Locks == abi.LocksInput {
		named = nil
		for _, touch := range t.Touches {
			access, err := by.Resolve(touch)
			if err != nil {
				return
			}
			named = append(named, access)
		}
	}
	locks, ok := locksOf(named)
	t.Locked, t.Locks, t.Links = ok, locks, linksTo(named)
}

// linksTo are locks on the names that a call goes by where they are not where the files
// really lie: a write to a directory may make its links lead elsewhere.
func linksTo(named []permissions.Access) []scheduler.Lock {
	var links []scheduler.Lock
	for _, a := range named {
		if a.Target != "" && fold(a.Target) != lockName(a) {
			links = append(links, scheduler.Lock{Name: fold(a.Target)})
		}
	}
	return links
}

// locksOf makes locks of accesses. It reports false where there are none, or some are not
// to files.
func locksOf(named []permissions.Access) ([]scheduler.Lock, bool) {
	var locks []scheduler.Lock
	for _, a := range named {
		if a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite {
			return nil, false
		}
		write := a.Kind == permissions.AccessWrite
		locks = append(locks, scheduler.Lock{Name: lockName(a), Write: write})
		if inode, ok := paths.HardLinked(a.Real); ok {
			locks = append(locks, scheduler.Lock{Name: inode, Write: write})
		}
	}
	return locks, len(locks) > 0
}

// lockName is the one name of the file that an access is to: where it really lies, in one
// case where the file system folds case.
func lockName(a permissions.Access) string { return fold(cmp.Or(a.Real, a.Target)) }

func fold(name string) string {
	if permissions.FoldsCase() {
		name = strings.ToLower(name)
	}
	return filepath.ToSlash(name)
}

// Covers reports whether the locks hold an access. A call that only reads may also look
// into the directories of the files that it reads: where a file is missing, names like it
// are looked for there.
func (t *Traits) Covers(a permissions.Access) bool {
	if a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite {
		return false
	}
	name := lockName(a)
	for _, lock := range t.Locks {
		if paths.Below(name, lock.Name) && (lock.Write || a.Kind == permissions.AccessRead) {
			return true
		}
		if t.ReadOnly && !a.Tree && parentOf(lock.Name) == name {
			return true
		}
	}
	return false
}

func parentOf(name string) string {
	at := strings.LastIndexByte(name, '/')
	if at <= 0 {
		return "/"
	}
	return name[:at]
}

// coversAll reports whether the locks hold everything that another call touches.
func (t *Traits) coversAll(made *Traits) bool {
	if !made.Locked {
		return false
	}
	for _, lock := range made.Locks {
		if !t.coversLock(lock) {
			return false
		}
	}
	return true
}

func (t *Traits) coversLock(lock scheduler.Lock) bool {
	for _, own := range t.Locks {
		if paths.Below(lock.Name, own.Name) && (own.Write || !lock.Write) {
			return true
		}
	}
	return false
}
