package programs

import (
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// startingVariables are those that name a program to start, or hold text for a
// shell.
var startingVariables = lazyregexp.New(`^(?:\w*(?:PAGER|EDITOR|_COMMAND|_RSH|ASKPASS|WRAPPER|_SSH|_EXTERNAL_DIFF)` +
	`|VISUAL|SHELL|LESSOPEN|LESSCLOSE|BROWSER|PS[0-4]|GIT_CONFIG_\w+|CC|CXX|LD|AR|AS|RUSTC|CARGO|MAKE|FCEDIT|RUNNER)$`)

// flagVariables hold flags of a program.
var flagVariables = map[string]string{
	"TAR_OPTIONS": "tar", "MAKEFLAGS": "make", "GREP_OPTIONS": "grep", "LESS": "less", "MANOPT": "man", "ZIPOPT": "zip",
	"FZF_DEFAULT_OPTS": "fzf", "RSYNC_OPTIONS": "rsync",
}

// hostVariables are those that say where programs connect to.
var hostVariables = lazyregexp.New(`(?i)^\w*(?:proxy|registry|_index|index_url|endpoint|mirror|docker_host)\w*$|^GIT_CONFIG_`)

// Variable says what a variable that is set for a program may have it do, for deny
// and ask rules: the programs that it names, and the hosts.
func Variable(name string, value Arg) (f Finding) {
	if startingVariables.MatchString(name) {
		f.Inner = textReadings(value)
	}
	if program := flagVariables[name]; program != "" {
		f.Inner = append(f.Inner, Inner{Shell: program + " " + value.unquoted()})
	}
	dials := hostVariables.MatchString(name) && !strings.HasPrefix(strings.ToLower(name), "no_")
	if dials || value.Literal && strings.Contains(value.Text, "://") {
		f.Effects = dial(value)
		f.AnyHost = !value.Literal && len(f.Effects) == 0
	}
	return f
}
