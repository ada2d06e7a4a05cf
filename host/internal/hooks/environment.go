package hooks

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
)

// passed are the variables that every command gets where the host has them. None
// of them holds a secret.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM", "NO_COLOR", "TZ", "LANG", "LANGUAGE",
	"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
}

// passedOnWindows are those without which programs do not start there.
var passedOnWindows = []string{
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

// dir is where a command starts.
func (h *hook) dir(in *Input) string { return cmp.Or(h.Dir, h.options.Project, in.Cwd) }

// environment is all that a command gets.
func (h *hook) environment(in *Input, dir string) []string {
	var env []string
	for _, variable := range h.options.Environ {
		if name, _, ok := strings.Cut(variable, "="); ok && h.passes(name) {
			env = append(env, variable)
		}
	}
	env = append(env,
		"PWD="+dir,
		"TOOLQUAY_HOOK_EVENT="+string(in.Event),
		"TOOLQUAY_TOOL="+in.Tool,
		"TOOLQUAY_SESSION_ID="+in.SessionID,
		"TOOLQUAY_CWD="+in.Cwd,
	)
	if h.options.Project != "" {
		env = append(env, "TOOLQUAY_PROJECT_DIR="+h.options.Project)
	}
	return env
}

func (h *hook) passes(name string) bool {
	is := func(known string) bool { return name == known }
	if runtime.GOOS == "windows" {
		is = func(known string) bool { return strings.EqualFold(name, known) }
		if slices.ContainsFunc(passedOnWindows, is) {
			return true
		}
	}
	return slices.ContainsFunc(passed, is) || slices.ContainsFunc(h.Env, is)
}
