package commands

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell"
)

// usualVariables are the names, as globs, of the variables that commands get of the
// embedder's environment: they tell who and where the user is, also to git, how to show and sort things,
// and where programs lie. None of them holds a secret.
var usualVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"NO_COLOR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
}

// fixedVariables are set for every command: there is no terminal.
var fixedVariables = []string{
	"TERM=dumb", "GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat",
	// Git takes the message that it has; any other editor fails at once.
	"GIT_EDITOR=true", "EDITOR=false", "VISUAL=false",
}

// environmentOf is the environment of a command: of environ the usual variables and those
// that further globs name, then the fixed ones. Looks adds the settings that keep a command
// read-only that was judged so.
func environmentOf(environ, further []string, looks bool) []string {
	set := make(map[string]string, len(fixedVariables))
	put := func(settings []string, wanted func(name string) bool) { // a name without a value unsets it
		for _, setting := range settings {
			name, value, ok := strings.Cut(setting, "=")
			switch {
			case !ok:
				delete(set, name)
			case wanted(name):
				set[name] = value
			}
		}
	}
	anything := func(string) bool { return true }
	environ = slices.DeleteFunc(slices.Clone(environ), func(setting string) bool { return !strings.Contains(setting, "=") })
	put(environ, func(name string) bool { return matchesAny(usualVariables, name) || matchesAny(further, name) })
	put(fixedVariables, anything)
	if looks {
		put(shell.Environment(), anything)
	}
	out := make([]string, 0, len(set))
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
