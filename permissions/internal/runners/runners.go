// Package runners knows programs by name: which of them run other programs, so that no rule
// with a wildcard may allow them, and which words of a command say what it does.
package runners

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// runners are programs whose purpose is to run other programs that their arguments name, perhaps
// as another user or elsewhere. No rule with a wildcard allows a command that starts with these
// words.
var runners = [][]string{
	{"watch"}, {"setsid"}, {"ionice"}, {"chrt"}, {"taskset"}, {"flock"}, {"env"}, {"sudo"}, {"doas"}, {"su"},
	{"run0"}, {"pkexec"}, {"runuser"}, {"setpriv"}, {"chroot"}, {"unshare"}, {"nsenter"}, {"bwrap"}, {"firejail"},
	{"systemd-run"}, {"at"}, {"batch"}, {"crontab"}, {"parallel"}, {"strace"}, {"ltrace"}, {"gdb"}, {"script"},
	{"busybox"}, {"toybox"}, {"expect"}, {"ssh"}, {"eval"}, {"exec"}, {"source"}, {"."}, {"command"}, {"builtin"},
	{"npx"}, {"bunx"}, {"pnpx"}, {"uvx"}, {"pipx", "run"}, {"uv", "tool", "run"}, {"npm", "exec"}, {"npm", "x"},
	{"pnpm", "dlx"}, {"pnpm", "exec"}, {"yarn", "dlx"}, {"yarn", "exec"}, {"bun", "x"}, {"deno", "x"},
	{"npm", "init"}, {"npm", "create"}, {"pnpm", "create"}, {"yarn", "create"}, {"bun", "create"},
	{"docker", "exec"}, {"docker", "run"}, {"docker", "compose", "exec"}, {"docker", "compose", "run"},
	{"docker", "container", "exec"}, {"docker", "container", "run"}, {"nerdctl", "exec"}, {"nerdctl", "run"},
	{"docker-compose", "exec"}, {"docker-compose", "run"}, {"podman", "exec"}, {"podman", "run"},
	{"podman", "container", "exec"}, {"podman", "container", "run"}, {"kubectl", "exec"}, {"kubectl", "run"},
	{"kubectl", "debug"}, {"oc", "exec"}, {"oc", "run"}, {"oc", "rsh"}, {"oc", "debug"},
	{"nix", "run"}, {"nix", "shell"}, {"nix-shell"},
	{"setarch"}, {"linux32"}, {"linux64"}, {"catchsegv"}, {"eatmydata"}, {"fakeroot"}, {"proot"}, {"unbuffer"},
	{"dbus-run-session"}, {"caffeinate"}, {"entr"}, {"sg"}, {"capsh"}, {"perf"}, {"valgrind"},
	{"gosu"}, {"su-exec"}, {"setuidgid"}, {"newgrp"}, {"prlimit"}, {"numactl"}, {"choom"}, {"runcon"}, {"cgexec"}, {"aa-exec"},
	{"tini"}, {"dumb-init"}, {"start-stop-daemon"}, {"daemonize"}, {"openvt"}, {"xvfb-run"}, {"hyperfine"}, {"chronic"},
	{"ssh-agent"}, {"i386"}, {"x86_64"}, {"proxychains"}, {"proxychains4"}, {"torsocks"}, {"torify"}, {"cpulimit"}, {"faketime"},
	{"chpst"}, {"run-one"}, {"rlwrap"}, {"machinectl"}, {"systemd-nspawn"}, {"nsjail"}, {"mise", "exec"}, {"mise", "x"},
	{"direnv", "exec"}, {"rustup", "run"},
}

// interpreters run code that their arguments hold or name. Flags after one do not narrow a
// rule.
var interpreters = []string{
	"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell",
	"python", "pypy", "ipython", "node", "nodejs", "deno", "bun", "tsx", "ts-node", "ruby", "irb", "perl", "php",
	"lua", "luajit", "tclsh", "wish", "Rscript", "R", "julia", "guile", "racket", "osascript", "swift", "scala",
	"groovy", "jshell", "java", "awk", "gawk", "mawk", "nawk", "xargs",
}

// scriptRunners run a script or target that the next words name. A rule that names none is too
// broad.
var scriptRunners = [][]string{
	{"npm"}, {"npm", "run"}, {"npm", "run-script"}, {"pnpm"}, {"pnpm", "run"}, {"yarn"}, {"yarn", "run"},
	{"bun", "run"}, {"deno", "run"}, {"deno", "task"}, {"uv"}, {"uv", "run"}, {"poetry", "run"}, {"pipenv", "run"},
	{"pipx"}, {"hatch", "run"}, {"bundle", "exec"}, {"rake"}, {"go", "run"}, {"go", "generate"}, {"cargo", "run"},
	{"dotnet", "run"}, {"mvn", "exec:exec"}, {"gradle"}, {"docker"}, {"docker", "compose"}, {"podman"}, {"kubectl"},
}

// findRuns are the expressions of find that start programs or change files.
var findRuns = []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}

// transparent are wrappers that do not change what the wrapped program does.
var transparent = []string{"timeout", "time", "nice", "nohup", "stdbuf"}

// NeverByPrefix reports whether only a rule without wildcards may allow a command. A word
// in which the shell expands something counts as any word.
func NeverByPrefix(words []shellword.Word) bool {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		texts = append(texts, w.Text)
	}
	texts[0] = Name(texts[0])
	switch texts[0] {
	case "find":
		return shellword.HasExpansion(words) || slices.ContainsFunc(texts, func(w string) bool { return slices.Contains(findRuns, w) })
	case "xargs":
		return len(texts) > 1 && strings.HasPrefix(texts[1], "-")
	}
	runs := func(r []string) bool { return runsWith(texts, words, r) }
	if texts[0] == "git" {
		return gitRuns(texts, words) || slices.ContainsFunc(gitRunners, runs)
	}
	return slices.ContainsFunc(runners, runs)
}

// runsWith reports whether a command starts with a runner's words, ignoring flags between them.
func runsWith(texts []string, words []shellword.Word, runner []string) bool {
	if texts[0] != runner[0] {
		return false
	}
	need := runner[1:]
	for i := 1; i < len(texts) && len(need) > 0; i++ {
		switch {
		case texts[i] == need[0] || !words[i].Literal:
			need = need[1:]
		case !strings.HasPrefix(texts[i], "-") && !strings.HasPrefix(texts[i-1], "-"):
			return false
		}
	}
	return len(need) == 0
}

// Name is the name of a program without its directory and version.
func Name(word string) string {
	name := path.Base(word)
	if short := strings.TrimRight(name, "0123456789."); short != "" && slices.Contains(interpreters, short) {
		return short
	}
	return name
}

// Runs reports whether words start with those of a program that runs others.
func Runs(words []string) bool {
	name := Name(words[0])
	return slices.ContainsFunc(runners, func(r []string) bool {
		return r[0] == name && len(words) >= len(r) && slices.Equal(words[1:len(r)], r[1:])
	})
}

// MayStart reports whether a text starts the name of an interpreter or of a program that runs
// others.
func MayStart(text string) bool {
	return slices.ContainsFunc(interpreters, func(name string) bool { return strings.HasPrefix(name, text) }) ||
		slices.ContainsFunc(runners, func(r []string) bool { return strings.HasPrefix(r[0], text) })
}

// AnyCommand reports whether a rule that starts with these words, and lets anything follow,
// comes to allowing any command: it names no program, a runner, or an interpreter or package
// runner with whatever arguments. It may change the words.
func AnyCommand(words []string) bool {
	for len(words) > 0 && (slices.Contains(transparent, words[0]) || Runs(words)) {
		words = slices.DeleteFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") || shellword.IsAssignment(w) || w == "" || w[0] >= '0' && w[0] <= '9'
		})
	}
	if len(words) == 0 {
		return true
	}
	words[0] = Name(words[0])
	if slices.Contains(interpreters, words[0]) {
		return !slices.ContainsFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") })
	}
	return slices.ContainsFunc(scriptRunners, func(r []string) bool { return slices.Equal(r, words) })
}
