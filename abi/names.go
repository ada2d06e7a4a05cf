package abi

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Identifiers of a semantic version: numbers have no leading zeros, those of a
// pre-release that are all digits neither, those of a build may.
const (
	versionNumber = `(?:0|[1-9][0-9]*)`
	versionWord   = `[0-9]*[A-Za-z-][0-9A-Za-z-]*`
	preRelease    = `(?:` + versionNumber + `|` + versionWord + `)`
	buildWord     = `[0-9A-Za-z-]+`
)

// The patterns are compiled when they are first needed, which in most processes
// is never for most of them.
var (
	pluginName     = lazily(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	toolName       = lazily(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	capabilityName = lazily(`^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+$`)
	configName     = lazily(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
	exportName     = lazily(`^[!-~]{1,128}$`)

	semanticVersion = lazily(`^` + versionNumber + `\.` + versionNumber + `\.` + versionNumber +
		`(?:-` + preRelease + `(?:\.` + preRelease + `)*)?` +
		`(?:\+` + buildWord + `(?:\.` + buildWord + `)*)?$`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// plainFileName reports whether a name is a .wasm file in the folder it is
// looked for in, on every system.
func plainFileName(name string) bool {
	return len(name) <= 255 && strings.HasSuffix(name, ".wasm") && name != ".wasm" &&
		!strings.ContainsAny(name, `/\:*?"<>|`) && hiddenRune(name, false) < 0
}

// line checks a text of one line that people or models are shown.
func line(v *validator, text string, most int) { shown(v, text, most, false) }

// lines checks a text of several.
func lines(v *validator, text string, most int) { shown(v, text, most, true) }

func shown(v *validator, text string, most int, breaks bool) {
	if n := utf8.RuneCountInString(text); n > most {
		v.fault("%d characters are over the limit of %d", n, most)
	}
	if !utf8.ValidString(text) {
		v.fault("bytes that are not UTF-8")
		return
	}
	if at := hiddenRune(text, breaks); at >= 0 {
		r, _ := utf8.DecodeRuneInString(text[at:])
		v.fault("the character %U at byte %d cannot be seen, or changes how the rest is shown; leave it out", r, at)
	}
}

// hiddenRune returns where the first character lies that has no form of its own
// and could make a text look like another: controls, format characters (which
// the bidirectional and zero-width ones are), and Unicode's own line breaks. It
// returns -1 where there is none.
func hiddenRune(text string, breaks bool) int {
	return strings.IndexFunc(text, func(r rune) bool {
		if breaks && (r == '\n' || r == '\t') {
			return false
		}
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}
