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

// none stands for an argument that a call does not have.
const none = -1

// call says where the arguments of a call are that name a file.
type call struct {
	verb verb
	// dir is the directory's descriptor, path where the path is, and flags what opens or follows links.
	dir, path, flags int
	// newDir and newPath are the other name of what is renamed or linked.
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

// writing are the open flags with which a file may be changed or created.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// Filter makes the calls wait that are reported; with renames only those that rename a file.
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
