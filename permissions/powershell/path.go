package powershell

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions"
)

// accesses are what naming a path may touch, for each directory the command may be in.
// It reports false where that is not all: a drive or provider, a link on the way, or a
// name that Windows takes for another.
func (a *analysis) accesses(name string, wildcards bool, access permissions.Access) (out []permissions.Access, sure bool) {
	sure = a.plainPath(name)
	name = strings.ReplaceAll(name, `\`, "/")
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:] // what is behind the drive or provider, for deny rules
	}
	if wildcards && strings.ContainsAny(name, "*?[") {
		var pattern string
		name, pattern = beforePattern(name)
		sure = sure && !strings.Contains(pattern, "..")
		access.Tree, access.Former = true, permissions.FormerUnknown // links among the matches
	}
	dirs := a.dirs
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		sure = sure && a.at.Home != ""
		dirs, name = []string{a.at.Home}, "."+rest
	} else if strings.HasPrefix(name, "/") {
		dirs = []string{"/"}
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		access.Target = path.Join(dir, name)
		sure = sure && a.straight(dir, name)
		if !slices.Contains(out, access) {
			out = append(out, access)
		}
	}
	return out, sure && len(out) > 0
}

// beforePattern parts a name with wildcards behind the last directory that is written
// out. What is behind it stays below that directory but for a "..".
func beforePattern(name string) (dir, pattern string) {
	i := strings.LastIndexByte(name[:strings.IndexAny(name, "*?[")], '/') + 1
	return name[:i], name[i:]
}

// plainPath reports whether a name is a path of the file system to PowerShell. A colon
// stands behind a drive or provider (about_Providers), two slashes of either sort start a
// share, a backtick escapes a wildcard; Windows drops dots and blanks at a name's end,
// knows short names, and has names for devices in every directory. A backslash parts names to PowerShell everywhere, but what a
// program elsewhere makes of it is not known.
func (a *analysis) plainPath(name string) bool {
	if name == "" || strings.ContainsAny(name, ":`\n") || strings.HasPrefix(name, "//") || strings.HasPrefix(name, `/\`) || strings.HasPrefix(name, `\`) {
		return false
	}
	if !a.at.Windows {
		return !strings.Contains(name, `\`)
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		odd := strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.Contains(part, "~") || isDevice(part)
		if odd && part != "." && part != ".." && part != "~" {
			return false
		}
	}
	return true
}

// devices are names that mean a device to Windows, with any ending.
var devices = setOf("con prn aux nul conin$ conout$")

func isDevice(name string) bool {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.TrimRight(name, " ")
	number, port := strings.CutPrefix(name, "com")
	if !port {
		number, port = strings.CutPrefix(name, "lpt")
	}
	return devices[name] || port && utf8.RuneCountInString(number) == 1 && strings.ContainsAny(number, "0123456789¹²³")
}

// straight reports whether .. in a name leads where it seems to: only from directories
// on the way to which there is no link.
func (a *analysis) straight(dir, name string) bool {
	at := dir
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." && !a.solid(at) {
			return false
		}
		at = path.Join(at, part)
	}
	return true
}

func (a *analysis) solid(dir string) bool {
	return within(a.at.Cwd, dir) || within(a.at.Home, dir) ||
		slices.ContainsFunc(a.at.Working, func(w string) bool { return within(w, dir) })
}

// working reports whether a directory may be entered unasked.
func (a *analysis) working(dir string) bool {
	return within(dir, a.at.Cwd) || slices.ContainsFunc(a.at.Working, func(w string) bool { return within(dir, w) })
}

// within reports whether a clean path is a directory or lies below it.
func within(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/' || dir == "/")
}
