package warm

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxCommand is the longest command taken: bash reads it byte by byte.
const maxCommand = 4096

// Fit reports whether a command may be run in a warm shell at all, given that it was
// judged read-only: that its child cannot be told from bash -c. It goes by words,
// wherever they stand, and rather says no: the long way is never wrong.
//
// These are what bash shows of the difference, all of it by names that a read-only
// command must write out: process ids and the depth of subshells; SECONDS and
// SHLVL; the traces of set -x, a level deeper; the status of a fatal expansion
// (127 and 1); what only the outermost shell does (exec, exit traps, job control);
// lists of the shell's own state; and programs that show processes.
func Fit(command string) bool {
	if command == "" || len(command) > maxCommand || !utf8.ValidString(command) || strings.ContainsAny(command, "\x00\r") {
		return false
	}
	if strings.Contains(command, "$$") || strings.Contains(command, "/proc") || fatal().MatchString(command) {
		return false
	}
	return !anyWord(command, telling)
}

// fatal matches expansions that may end the shell.
var fatal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\?`) })

// moves reports whether a command may end in another directory than it began in.
func moves(command string) bool { return anyWord(command, movers) }

// anyWord reports whether one of the words stands in a text, quoted or not.
func anyWord(text string, words map[string]bool) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		if words[word] || strings.HasPrefix(word, "BASH") && words["BASH"] {
			return true
		}
	}
	return false
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

var (
	movers = setOf("cd pushd popd")

	telling = setOf(`
		BASH PPID SHLVL SECONDS PIPESTATUS COMP_WORDBREAKS RANDOM SRANDOM
		alias bg bind builtin caller compgen complete compopt coproc declare disown enable env eval
		exec export fc fg hash help history jobs kill let local logout mapfile printenv readarray
		readonly select set shopt source suspend times trap typeset ulimit umask unalias unset wait
		fuser htop lsof pgrep pidof ps pstree top w who`)
)
