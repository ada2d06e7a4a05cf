//go:build amd64 || arm64

package touches

import (
	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
)

// verb is what a call does with the file that it names.
type verb uint8

const (
	open   verb = iota // opens it for writing, and may create it
	make_              // creates it, if the path is free
	alter              // changes it or its permissions
	remove             // removes it
	rename             // renames it
	link               // makes a hard link to it
)

// none is the index of an argument that a call does not have.
const none = -1

// call says which arguments of a system call name a file, by their indexes.
type call struct {
	verb verb
	// dir is the descriptor of a directory, path is a path from there on, and flags are the call's flags.
	dir, path, flags int
	// newDir and newPath are the new name, for rename and link.
	newDir, newPath int
}

// known are the calls that are reported. withOlder adds those that only some architectures have.
var known = withOlder(map[uintptr]call{
	unix.SYS_OPENAT:    {verb: open, dir: 0, path: 1, flags: 2},
	unix.SYS_OPENAT2:   {verb: open, dir: 0, path: 1, flags: none},
	unix.SYS_MKDIRAT:   {verb: make_, dir: 0, path: 1},
	unix.SYS_MKNODAT:   {verb: make_, dir: 0, path: 1},
	unix.SYS_SYMLINKAT: {verb: make_, dir: 1, path: 2},
	unix.SYS_LINKAT:    {verb: link, dir: 0, path: 1, flags: 4, newDir: 2, newPath: 3},
	unix.SYS_TRUNCATE:  {verb: alter, dir: none, path: 0, flags: none},
	unix.SYS_FCHMOD:    {verb: alter, dir: 0, path: none, flags: none},
	unix.SYS_FCHMODAT:  {verb: alter, dir: 0, path: 1, flags: none},
	unix.SYS_FCHMODAT2: {verb: alter, dir: 0, path: 1, flags: 3},
	unix.SYS_UNLINKAT:  {verb: remove, dir: 0, path: 1},
	unix.SYS_RENAMEAT:  {verb: rename, dir: 0, path: 1, flags: none, newDir: 2, newPath: 3},
	unix.SYS_RENAMEAT2: {verb: rename, dir: 0, path: 1, flags: 4, newDir: 2, newPath: 3},
})

// writing are the open flags that allow changing or creating a file.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// Filter returns a seccomp filter that makes all reported calls wait; with renames, only those that rename a file.
func Filter(renames bool) seccomp.Program {
	var rules []seccomp.Rule
	for number, c := range known {
		if renames && c.verb != rename {
			continue
		}
		r := seccomp.Rule{Action: seccomp.Notify, Calls: []uintptr{number}}
		if c.verb == open && c.flags > none {
			r.When = []seccomp.Test{{Argument: c.flags, Has: writing}}
		}
		rules = append(rules, r)
	}
	return seccomp.New(seccomp.Allow, rules...)
}
