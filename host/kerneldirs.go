package host

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// kernelDirs hold devices and the kernel's own view of itself. The host opens nothing in
// them, and so does not walk to there: see [workspace.Resolve].
var kernelDirs = []string{"/dev", procDir, "/sys"}

const procDir = "/proc"

// commandPath is where a path of a command really lies: as [realPath] has it, or in one of
// the directories of the kernel's as far as that can be told by name. It is empty where it
// cannot, and then a person is asked whatever rules there are.
func commandPath(name string) string {
	if !inKernelDir(name) {
		return realPath(name)
	}
	const links = 40
	return kernelPath(name, links)
}

func inKernelDir(name string) bool {
	return slices.ContainsFunc(kernelDirs, func(dir string) bool { return liesIn(dir, name) })
}

// liesIn reports whether a clean path is a directory or below it.
func liesIn(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// kernelPath follows the links of /dev and /sys. In /proc none is followed: a link there
// leads to something else for the command than for the host, and those to what a process
// has open lead to where no name does.
func kernelPath(name string, links int) string {
	if links == 0 {
		return ""
	}
	at, rest := "", name
	for rest != "" {
		if at == procDir {
			return procPath(name)
		}
		part, behind, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		at, rest = at+"/"+part, behind
		info, err := os.Lstat(at)
		if err != nil {
			return name // nothing is there
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		to, err := os.Readlink(at)
		if err != nil || climbsBack(to) {
			return ""
		}
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(at), to)
		}
		if to = path.Join(to, rest); !inKernelDir(to) {
			return realPath(to)
		}
		return kernelPath(to, links-1)
	}
	return name
}

// climbsBack reports whether a link goes up again behind a name, which may be another
// link: then only the system knows where it leads.
func climbsBack(to string) bool {
	named := false
	for part := range strings.SplitSeq(to, "/") {
		if part == ".." && named {
			return true
		}
		named = named || part != ".." && part != "." && part != ""
	}
	return false
}

// magic are the names in /proc of links to what a process has open.
var magic = []string{"root", "cwd", "exe", "fd", "map_files", "ns"}

// procPath is a path in /proc, which is what it is called, or empty where it may lead out.
func procPath(name string) string {
	for part := range strings.SplitSeq(name, "/") {
		if slices.Contains(magic, part) {
			return ""
		}
	}
	return name
}
