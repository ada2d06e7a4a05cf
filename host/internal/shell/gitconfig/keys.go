package gitconfig

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// values tells whether a key may have a value.
type values func(j *judge, k key, value string) bool

// key is the name of a setting as git lists it: section and last part in small letters.
type key struct {
	section, name, last string
	// named says that there is a name, which may be empty.
	named bool
}

func keyOf(text string) key {
	section, rest, _ := strings.Cut(text, ".")
	at := strings.LastIndexByte(rest, '.')
	if at < 0 {
		return key{section: section, last: rest}
	}
	return key{section: section, name: rest[:at], last: rest[at+1:], named: true}
}

// keys are the keys that commands may set or remove, with the values that they may have. A *
// is any subsection. Whatever a key of this list says, git starts no program for it, reads no
// further file, and pushes nothing to where it did not before.
var keys = map[string]values{
	"user.name": text, "user.email": text,

	"branch.*.remote": remoteName, "branch.*.pushremote": remoteName, "branch.*.merge": matching(refName),
	"branch.*.rebase": oneOf("true", "false", "merges", "interactive"), "branch.*.description": lines,
	"branch.*.vscode-merge-base": text, "branch.*.gh-merge-base": text,
	"branch.autosetupmerge":  oneOf("true", "false", "always", "inherit", "simple"),
	"branch.autosetuprebase": oneOf("always", "never", "local", "remote"), "branch.sort": text,

	"remote.*.url": place, "remote.*.pushurl": place, "remote.*.fetch": fetchSpec,
	"remote.*.tagopt": oneOf("--tags", "--no-tags"), "remote.*.prune": boolean, "remote.*.prunetags": boolean,
	"remote.*.gh-resolved": oneOf("base"), "remote.pushdefault": remoteName, "checkout.defaultremote": remoteName,

	"submodule.*.url": place, "submodule.*.active": boolean, "submodule.*.branch": text,
	"submodule.*.update": oneOf("checkout", "rebase", "merge", "none"),

	"push.default":         oneOf("simple", "current", "upstream", "nothing"),
	"push.autosetupremote": boolean,
	"pull.rebase":          oneOf("true", "false", "merges", "interactive"),
	"pull.ff":              oneOf("true", "false", "only"),
	"fetch.prune":          boolean,
	"merge.ff":             oneOf("true", "false", "only"),
	"merge.conflictstyle":  oneOf("merge", "diff3", "zdiff3"),
	"rebase.autostash":     boolean,
	"rebase.autosquash":    boolean,
	"rebase.updaterefs":    boolean,
	"rerere.enabled":       boolean,
	"rerere.autoupdate":    boolean,
	"commit.cleanup":       oneOf("strip", "whitespace", "verbatim", "scissors", "default"),
	"commit.verbose":       boolean,
	"checkout.guess":       boolean,
	"tag.sort":             text,
	"init.defaultbranch":   matching(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`),
	"gc.auto":              matching(`^[0-9]+$`),
	"worktree.guessremote": boolean,

	"core.autocrlf": oneOf("true", "false", "input"), "core.eol": oneOf("lf", "crlf", "native"), "core.safecrlf": oneOf("true", "false", "warn"),
	"core.filemode": boolean, "core.precomposeunicode": boolean, "core.quotepath": boolean, "core.abbrev": matching(`^(?:auto|no|[0-9]+)$`),
	"core.logallrefupdates": oneOf("true", "false", "always"), "core.sparsecheckout": boolean, "core.sparsecheckoutcone": boolean,

	"status.short": boolean, "status.branch": boolean, "status.showuntrackedfiles": oneOf("no", "normal", "all"), "status.relativepaths": boolean,
	"log.date": text, "log.decorate": text, "log.abbrevcommit": boolean, "log.follow": boolean,
	"diff.algorithm": text, "diff.renames": text, "diff.renamelimit": matching(`^[0-9]+$`), "diff.colormoved": text,
	"diff.context": matching(`^[0-9]+$`), "diff.mnemonicprefix": boolean, "diff.noprefix": boolean,
	"color.*": text, "color.*.*": text, "advice.*": boolean,
}

// Names and references as git writes them.
const (
	refName  = `^refs/(?:heads|tags|pull|merge-requests)/[A-Za-z0-9_][^\s~^:?*\[\\]*$`
	fetching = `^\+?refs/(?:heads|tags|pull|merge-requests)/[^\s~^:?\[\\]+:refs/remotes/([^\s~^:?*\[\\/]+)/[^\s~^:?\[\\]+$`
)

var (
	fetches = lazyregexp.New(fetching)
	remotes = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	plain   = lazyregexp.New(`^[a-z0-9-]+$`)
)

// longest is how long a name or value may be, in bytes.
const longest = 1000

// rule finds what holds a key to its values; nil is none, and the key is protected.
func (k key) rule() values {
	if !plain.MatchString(k.section) || !plain.MatchString(k.last) {
		return nil
	}
	if !k.named {
		if r := keys[k.section+"."+k.last]; r != nil {
			return r
		}
		return keys[k.section+".*"]
	}
	// Git takes the name of a remote also where it expects a URL or a path.
	if !text(nil, k, k.name) || k.section == "remote" && !remotes.MatchString(k.name) || slices.Contains(strings.Split(k.name, "/"), "..") {
		return nil
	}
	if r := keys[k.section+".*."+k.last]; r != nil {
		return r
	}
	return keys[k.section+".*.*"]
}

// text allows what fits on a line.
func text(_ *judge, _ key, value string) bool {
	control := func(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }
	return len(value) <= longest && !strings.ContainsFunc(value, control)
}

// lines allows texts of several lines.
func lines(j *judge, k key, value string) bool {
	return text(j, k, strings.NewReplacer("\n", "", "\t", "").Replace(value))
}

func boolean(_ *judge, _ key, value string) bool {
	return slices.Contains([]string{"", "true", "false", "yes", "no", "on", "off", "1", "0"}, strings.ToLower(value))
}

func oneOf(allowed ...string) values {
	return func(_ *judge, _ key, value string) bool { return slices.Contains(allowed, strings.ToLower(value)) }
}

func matching(pattern string) values {
	re := lazyregexp.New(pattern)
	return func(j *judge, k key, value string) bool { return text(j, k, value) && re.MatchString(value) }
}

// remoteName allows the repository itself, and remotes that it has. Git takes any other name
// for a URL.
func remoteName(j *judge, _ key, value string) bool {
	return value == "." || remotes.MatchString(value) && j.has(value)
}

// fetchSpec allows a remote to update what the repository remembers of it, never the
// repository's own branches.
func fetchSpec(j *judge, k key, value string) bool {
	found := fetches.FindStringSubmatch(value)
	return text(j, k, value) && found != nil && found[1] == k.name
}
