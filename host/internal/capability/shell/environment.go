package shell

import (
	"path/filepath"
	"slices"
	"strings"

	analysis "github.com/toolquay/toolquay/internal/shell"
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

// environment is the session's, and where the shell stands.
func (l *launch) environment() []string {
	env := l.scope.Shell.Environment(l.known.Restrained)
	if l.known.Restrained {
		env = slices.DeleteFunc(env, func(setting string) bool { return !analysis.Needs(&l.known, setting) })
		env = searching(env, l.unsafe())
	} else {
		env = append(env, analysis.Functions(&l.known)...)
	}
	return append(l.withTemp(env), "PWD="+l.scope.Cwd)
}

// withTemp names the session's folder for temporary files by its own path, by which other
// tools find what is in it; /tmp is another place for them. Outside of a sandbox the user
// may have named another one.
func (l *launch) withTemp(env []string) []string {
	if slices.ContainsFunc(env, NamesTemp) && !l.held.sandboxed {
		return env
	}
	return append(slices.DeleteFunc(env, NamesTemp), tempName+l.held.Temp)
}

// tempName begins the setting of the variable that names the directory for temporary files.
const tempName = "TMPDIR="

// NamesTemp reports whether a setting of the environment names that directory.
func NamesTemp(setting string) bool { return strings.HasPrefix(setting, tempName) }

// unsafe are the directories that commands may write in. Those for temporary files have
// other names in a sandbox.
func (l *launch) unsafe() []string {
	return slices.Concat(l.held.Working, []string{l.held.Temp, l.scope.Cwd, "/tmp", "/var/tmp"})
}
