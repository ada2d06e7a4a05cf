package abi

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
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
