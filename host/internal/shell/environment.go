package shell

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
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
func (l *launch) environment(ctx context.Context) []string {
	restrained := l.known.Restrained || l.held.readOnly
	env := l.scope.Shell.Environment(restrained)
	if restrained {
		env = slices.DeleteFunc(env, func(setting string) bool { return !analysis.Needs(&l.known, setting) })
		env = searching(env, l.unsafe())
	} else {
		env = append(env, analysis.Functions(&l.known)...)
		if l.held.held() {
			env = withSettings(env, l.held.Environment)
			env = l.held.networked(ctx, env)
		}
	}
	return append(l.withTemp(env), "PWD="+l.scope.Cwd)
}

// home is where the environment of commands says that it is; empty if it does not.
func (a *account) home() string {
	for _, setting := range a.scope.Shell.Environment(false) {
		if home, ok := strings.CutPrefix(setting, "HOME="); ok && home != "" {
			return resolved(home)
		}
	}
	return ""
}

// impatient are settings that have programs which download give up at once where there is no
// network: otherwise they try for minutes. None of them changes what is done.
var impatient = []string{
	"npm_config_fetch_retries=0", "npm_config_update_notifier=false", "npm_config_fund=false", "YARN_HTTP_RETRY=0",
	"PIP_RETRIES=0", "PIP_DISABLE_PIP_VERSION_CHECK=1", "UV_HTTP_RETRIES=0", "POETRY_REQUESTS_MAX_RETRIES=0", "CARGO_NET_RETRY=0",
}

// own are the names of the command's own loopback, which is no proxy's.
var own = []string{"localhost", "127.0.0.1", "::1"}

// networked tells programs what they reach of the network. By host, the proxy's own
// variables come later: its port is not known yet. Names of the loopback that a rule allows
// are the machine's, which the proxy reaches.
func (h *confinement) networked(ctx context.Context, env []string) []string {
	if h.proxied {
		direct := slices.DeleteFunc(slices.Clone(own), func(name string) bool {
			return h.Local != nil && h.Local(name) && h.Host != nil && h.Host(ctx, name)
		})
		list := strings.Join(direct, ",")
		env = withSettings(env, []string{"no_proxy=" + list, "NO_PROXY=" + list})
	}
	if h.proxied && h.HostsOpened {
		env = withSettings(env, []string{proxy.JavaOptions + "=" + proxy.ForJava(valueIn(env, proxy.JavaOptions))})
	}
	if !h.HostsOpened && h.network != sandbox.NetworkAll {
		env = withSettings(impatient, env) // what the user set counts
	}
	return env
}

// valueIn is the value of a variable in an environment.
func valueIn(env []string, name string) string {
	for _, setting := range env {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// withSettings replaces settings of an environment.
func withSettings(env, settings []string) []string {
	nameOf := func(setting string) string { name, _, _ := strings.Cut(setting, "="); return name }
	replaced := make(map[string]bool, len(settings))
	for _, setting := range settings {
		replaced[nameOf(setting)] = true
	}
	return append(slices.DeleteFunc(slices.Clone(env), func(setting string) bool { return replaced[nameOf(setting)] }), settings...)
}

// withTemp names the session's folder for temporary files by its own path, by which other
// tools find what is in it; /tmp is another place for them. Outside of a sandbox the user
// may have named another one.
func (l *launch) withTemp(env []string) []string {
	if slices.ContainsFunc(env, NamesTemp) && !l.held.held() {
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
