package shell

import (
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// harmless are the variables that may be set for a program without changing
// what it does but for how its output looks.
var harmless = map[string]bool{
	"LANG": true, "LANGUAGE": true, "TZ": true, "TERM": true, "COLORTERM": true,
	"NO_COLOR": true, "FORCE_COLOR": true, "CLICOLOR": true, "CLICOLOR_FORCE": true,
	"COLUMNS": true, "LINES": true,
}

// localeName is a locale in which a byte of ASCII is that character and no part of
// another: C, or one of UTF-8. In others (zh_TW, ja_JP.SJIS) a program may read a
// script differently, as the half of a letter may look like a backslash or a bar.
var localeName = lazyregexp.New(`^(?:C|POSIX|(?:C|[a-z]{2,3}(?:_[A-Z]{2})?)\.(?:UTF|utf)-?8(?:@[a-z]+)?)?$`)

// isHarmless reports whether setting a variable to a value may be ignored. A
// value that is a path may name a file of translations or rules to load.
func isHarmless(name, value string) bool {
	if !harmless[name] && !strings.HasPrefix(name, "LC_") {
		return false
	}
	if name == "LANG" || strings.HasPrefix(name, "LC_") {
		return localeName.MatchString(value)
	}
	if strings.Contains(value, "..") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, ":") {
		return false
	}
	return name == "TZ" || !strings.Contains(value, "/")
}

// tuning are the variables that may be set for a program that an allow rule speaks of,
// with the values that count: they say how much it shows or uses, which usual variant it
// builds, or that nobody sits there. None has it load, run or reach anything, but it may
// do something else than without, so that nothing is read-only for them.
var tuning = map[string]*lazyregexp.Regexp{
	"CI": tuningWord, "DEBUG": tuningWord, "VERBOSE": tuningWord, "LOG_LEVEL": tuningWord, "LOGLEVEL": tuningWord,
	"NODE_ENV": lazyregexp.New(`^(?:test|development)$`), "PORT": tuningNumber, "SOURCE_DATE_EPOCH": tuningNumber,
	"PYTHONUNBUFFERED": tuningWord, "PYTHONDONTWRITEBYTECODE": tuningWord, "PYTHONFAULTHANDLER": tuningWord, "PYTHONUTF8": tuningNumber,
	"PYTHONHASHSEED": tuningWord, "PY_COLORS": tuningNumber, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": tuningWord,
	"PIP_NO_INPUT": tuningNumber, "PIP_DISABLE_PIP_VERSION_CHECK": tuningNumber,
	"GOOS": tuningWord, "GOARCH": tuningWord, "CGO_ENABLED": tuningNumber, "GOMAXPROCS": tuningNumber, "GOTRACEBACK": tuningWord, "GOGC": tuningWord,
	"RUST_BACKTRACE": tuningWord, "RUST_LIB_BACKTRACE": tuningWord, "RUST_LOG": tuningWord,
	"CARGO_TERM_COLOR": tuningWord, "CARGO_INCREMENTAL": tuningNumber, "RAYON_NUM_THREADS": tuningNumber, "OMP_NUM_THREADS": tuningNumber,
}

// The values of such variables: plain words and lists of them, which are no path and no
// other variable's value, and numbers.
var (
	tuningWord   = lazyregexp.New(`^[A-Za-z0-9_.,:=*-]*$`)
	tuningNumber = lazyregexp.New(`^[0-9]*$`)
)

// tunes reports whether setting a variable to a value stops no allow rule.
func tunes(name, value string) bool {
	values, ok := tuning[name]
	return ok && values.MatchString(value)
}

// isDirectoryVariable reports whether cd heeds a variable.
func isDirectoryVariable(name string) bool {
	switch name {
	case "HOME", "CDPATH", "PWD", "OLDPWD", "DIRSTACK":
		return true
	}
	return false
}

// shakers are the built-in commands that change the shell so that later names
// may mean something else; those that are true may also change its directory.
// Where a program is known to be read-only with its arguments, as command -v
// is, it changes nothing.
var shakers = map[string]bool{
	".": true, "source": true, "eval": true, "exec": true, "command": true, "builtin": true,
	"trap": true, "set": true, "shopt": true, "alias": true, "unalias": true, "enable": true,
	"dirs": true, "fc": true, "suspend": true, "coproc": true,

	"read": false, "mapfile": false, "readarray": false, "getopts": false, "printf": false,
	"unset": false, "let": false, "hash": false, "umask": false, "ulimit": false, "shift": false,
	"declare": false, "typeset": false, "local": false, "export": false, "readonly": false,
	"bind": false, "complete": false, "compgen": false, "compopt": false, "wait": false,
	"test": false, "[": false,
}

// after is the shell after a simple command.
func (a *analysis) after(words []word, readOnly bool, at site) state {
	s := at.state
	name := words[0]
	if name.Literal && strings.Contains(name.Text, "/") {
		return s // another process
	}
	moves, shakes := shakers[name.Text]
	if !name.Literal {
		moves, shakes = true, true
	}
	if !shakes || readOnly {
		return s
	}
	// What it is told to run, now or later, is for deny rules.
	if name.Text == "trap" && len(words) > 1 && words[1].Literal {
		at.inner = true
		a.script(words[1].Text, at)
	}
	a.parts = append(a.parts, guessAll(source(at.node, a.text), a.at, true)...)
	s = s.shake(a.because("by "+quoted(name.Text), at.node))
	s.rehomed = true
	if moves {
		if s.away == "" {
			s.away = quoted(name.Text) + ", which may have moved the shell elsewhere"
		}
		s = s.lost()
	}
	return s
}

// move follows cd, pushd and popd.
func (a *analysis) move(words []word, at site) outcome {
	to, known := a.destination(words, &at)
	p := permissions.Part{Words: plainWords(words), Env: at.env, ReadOnly: true, ReadOnlyConfined: len(at.env) == 0, Complete: true}
	p.Reason = "it changes the directory"
	after := at.state
	if after.away == "" {
		after.away = "a cd that may have led out of the working directories"
	}
	after = after.lost()
	if known {
		after = to
		for _, dir := range to.dirs {
			if !a.working(dir) {
				p.Accesses = append(p.Accesses, permissions.Access{Kind: permissions.AccessRead, Target: dir})
			}
		}
	} else {
		a.blur(&p, "where "+quoted(words[0].Text)+" leads is not known", at)
	}
	mine := len(a.parts)
	a.add(p, at)
	a.readings(words, mine)
	return outcome{ok: after, failed: at.state}
}

// destination is the shell after a cd, pushd or popd that succeeds.
func (a *analysis) destination(words []word, at *site) (state, bool) {
	s := at.state
	verb, args := words[0].Text, words[1:]
	if len(at.env) > 0 || s.shaken != "" {
		return s, false
	}
	for len(args) > 0 && (args[0].is("--") || verb == "cd" && args[0].is("-L")) {
		args = args[1:]
	}
	switch {
	case verb == "popd":
		return s.pop(len(words))
	case len(args) > 1:
		return s, false
	case len(args) == 0:
		home := a.home(&s)
		if verb != "cd" || home == "" {
			return s, false
		}
		return a.enter(s, home)
	}
	name := args[0].Text
	if !args[0].Literal || name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "+") {
		return s, false
	}
	to, ok := a.enter(s, name)
	if verb == "pushd" {
		to.stack = &pushed{s.dirs, s.stack}
	}
	return to, ok
}

// pop goes back to where the last pushd was.
func (s state) pop(words int) (state, bool) {
	if words > 1 || s.stack == nil || len(s.stack.dirs) == 0 {
		return s, false
	}
	s.dirs, s.stack = s.stack.dirs, s.stack.next
	return s, true
}
