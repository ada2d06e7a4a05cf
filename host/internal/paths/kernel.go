package paths

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// kernelDirs hold devices and the kernel's own view of itself. The host opens nothing in
// them, so [Real] cannot resolve paths there.
var kernelDirs = []string{"/dev", procDir, "/sys"}

const procDir = "/proc"

// InKernelDir reports whether a clean path lies in a directory of devices or of the
// kernel's view of itself.
func InKernelDir(name string) bool {
	return slices.ContainsFunc(kernelDirs, func(dir string) bool { return Below(name, dir) })
}

// kernelPath follows the links of /dev and /sys. It follows none in /proc: a link there
// leads elsewhere for the command than for the host, and the links to files that a process
// has open lead to places without a name.
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
		if to = path.Join(to, rest); !InKernelDir(to) {
			return Real(to)
		}
		return kernelPath(to, links-1)
	}
	return name
}

// climbsBack reports whether a link has ".." after a name. That name may be another link:
// then only the kernel can tell where the link leads.
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

// magic are the names in /proc of links to files and directories of a process.
var magic = []string{"root", "cwd", "exe", "fd", "map_files", "ns"}

// procPath resolves a path in /proc: to itself, or to "" where it may lead out of /proc.
func procPath(name string) string {
	for part := range strings.SplitSeq(name, "/") {
		if slices.Contains(magic, part) {
			return ""
		}
	}
	return name
}
