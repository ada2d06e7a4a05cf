package host

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/scheduler"
)

// settleLocks finds out what the call locks, where its tool says how. A call whose
// accesses are not all known is not locked, and runs alone unless it is safe.
func (c *call) settleLocks(named []permissions.Access) {
	contract := c.tool.contract()
	if contract.Locks == "" || c.session().host.options.PlainBatches || c.mayMove() || c.session().distrustsLocks(contract.Name) {
		return
	}
	if contract.Locks == abi.LocksInput {
		var ok bool
		if named, ok = c.touched(); !ok {
			return
		}
	}
	locks, ok := locksOf(named)
	c.traits.locked, c.traits.locks, c.traits.links = ok, locks, waysTo(named)
}

// waysTo are locks on the names that a call goes by where they are not where things
// really lie: who writes a directory may have its links lead elsewhere.
func waysTo(named []permissions.Access) []scheduler.Lock {
	var links []scheduler.Lock
	for _, a := range named {
		if a.Target != "" && fold(a.Target) != lockName(a) {
			links = append(links, scheduler.Lock{Name: fold(a.Target)})
		}
	}
	return links
}

// touched resolves what the guest says that the call touches.
func (c *call) touched() ([]permissions.Access, bool) {
	cwd := c.session().view().cwd
	var named []permissions.Access
	for _, touch := range c.traits.touches {
		field := abi.Field{Kind: abi.FieldPath, Effect: abi.EffectRead}
		if touch.Write {
			field.Effect = abi.EffectWrite
		}
		access, _, err := c.resolvePath(cwd, field, touch.Path)
		if err != nil {
			return nil, false
		}
		named = append(named, access)
	}
	return named, true
}

// locksOf makes locks of accesses. It reports false where there are none, or some
// are not to files.
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

// lockName is the one name of what an access is to: where it really lies, in the case
// that the file system takes for the same.
func lockName(a permissions.Access) string {
	return fold(cmp.Or(a.Real, a.Target))
}

func fold(name string) string {
	if permissions.FoldsCase() {
		name = strings.ToLower(name)
	}
	return filepath.ToSlash(name)
}

// covers reports whether what the call locked holds an access. What only reads may
// look into the directories of what it reads, too: where a file is missing, names
// near it are looked for there.
func (c *call) covers(a permissions.Access) bool {
	if a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite {
		return false
	}
	name := lockName(a)
	for _, lock := range c.traits.locks {
		if paths.Below(name, lock.Name) && (lock.Write || a.Kind == permissions.AccessRead) {
			return true
		}
		if c.traits.readOnly && !a.Tree && parentOf(lock.Name) == name {
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

// coversLocks reports whether what the call locked holds all that another one, which
// it makes, touches.
func (c *call) coversLocks(made *call) bool {
	if !made.traits.locked {
		return false
	}
	for _, lock := range made.traits.locks {
		if !c.coversLock(lock) {
			return false
		}
	}
	return true
}

func (c *call) coversLock(lock scheduler.Lock) bool {
	for _, own := range c.traits.locks {
		if paths.Below(lock.Name, own.Name) && (own.Write || !lock.Write) {
			return true
		}
	}
	return false
}
