package shell

import (
	"slices"
	"strings"
)

// tempVariable names the directory for temporary files.
const tempVariable = "TMPDIR"

// mayNameTemp reports whether a command may name that directory: by the variable, as /tmp, or
// by mktemp.
func mayNameTemp(text string) bool {
	return strings.Contains(text, "tmp") || strings.Contains(text, tempVariable) || strings.Contains(text, "mktemp")
}

// given are the variables whose values are known at the start.
func (a *analysis) given() []variable {
	if a.at.scratch.Dir == "" {
		return nil
	}
	return []variable{{name: tempVariable, value: a.at.scratch.Dir, given: true}}
}

// temporary are the directories that are [Scratch].Dir in a sandbox.
var temporary = []string{"/tmp", "/var/tmp"}

// lies is where the file at a clean path lies: one in the command's own /tmp lies in the
// session's directory. A path keeps its name if something that is mounted at its own path
// may lie there.
func (a *analysis) lies(p string) string {
	if a.at.scratch.Dir == "" || a.at.scratch.Mounted == nil || within(p, a.at.scratch.Dir) {
		return p
	}
	i := slices.IndexFunc(temporary, func(dir string) bool { return within(p, dir) })
	if i < 0 {
		return p
	}
	dir := temporary[i]
	first := beginning(p, dir)
	for _, mounted := range append(slices.Clip(a.at.scratch.Mounted), a.at.scratch.Dir) {
		if !within(mounted, dir) {
			continue
		}
		if at := beginning(mounted, dir); at == "" || at == first || first == "" && mounted != a.at.scratch.Dir {
			return p
		}
	}
	return a.at.scratch.Dir + p[len(dir):]
}

// beginning is the first component of a path in a directory; empty for the directory itself.
func beginning(p, dir string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(p[len(dir):], "/"), "/")
	return first
}
