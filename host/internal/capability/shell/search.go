package shell

import (
	"path/filepath"
	"slices"
	"strings"
)

// systemPath is where programs are looked for where nothing else is left.
const systemPath = "/usr/bin:/bin"

// searching is an environment in which PATH has only directories that no command could
// have put a program in. That a command only reads was judged by the names of its
// programs, and the ls of a project may be anything.
//
// PATH is always set: bash has one of its own otherwise, and takes an empty one for the
// directory where it stands.
func searching(env, unsafe []string) []string {
	const name = "PATH="
	at := slices.IndexFunc(env, func(setting string) bool { return strings.HasPrefix(setting, name) })
	if at < 0 {
		return append(env, name+systemPath)
	}
	dirs := slices.DeleteFunc(filepath.SplitList(env[at][len(name):]), func(dir string) bool {
		lies, err := filepath.EvalSymlinks(dir)
		return !filepath.IsAbs(dir) || inside(filepath.Clean(dir), unsafe) || err == nil && inside(lies, unsafe)
	})
	if len(dirs) == 0 {
		dirs = []string{systemPath}
	}
	env[at] = name + strings.Join(dirs, string(filepath.ListSeparator))
	return env
}

// unsafe are the directories that commands may write in. Those for temporary files have
// other names in a sandbox.
func (l *launch) unsafe() []string {
	return slices.Concat(l.policy.Working, []string{l.policy.Temp, l.p.scope.Cwd, "/tmp", "/var/tmp"})
}
