package permissions

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolquay/toolquay/permissions/internal/pathrule"
)

// AccessKind says what sort of effect an [Access] is.
type AccessKind string

// The kinds of access. Every effect on the world is one of them, whichever way
// it comes: from a tool's input, a shell command, or a capability call.
const (
	AccessRead    AccessKind = "fs.read"
	AccessWrite   AccessKind = "fs.write"
	AccessExec    AccessKind = "exec"
	AccessNet     AccessKind = "net"
	AccessSession AccessKind = "session"
)

// Access is one effect of a call. It is a comparable value.
type Access struct {
	Kind AccessKind
	// Target is the path as it was named, made absolute and lexically clean;
	// or the command, the host, or the part of the session.
	Target string
	// Real is, for paths, where the handle that will be acted on really lies,
	// every link resolved. It equals Target where no link is on the way. For a
	// file that does not exist it is the real parent with the name.
	Real string
	// Tree says that everything below the path is meant too, as by a search or a
	// directory that a search goes into. It is judged on its own path: what is
	// denied below it is left out when it is met, and does not deny the tree.
	Tree bool
	// Glob says, with Tree, that only what matches this pattern of a shell is
	// meant. It is absolute, with Target before the first wildcard. Where it ends in
	// /**, all below the matches is meant, too.
	Glob string
	// Links says, with Tree, that links found below the path are followed, wherever they
	// lead. Where they lead is for the host to add.
	Links bool
	// Former says, with Tree, that git prints what the path holds and has held: it is
	// the work tree of the repository that git uses, or [FormerUnknown]. Objects are the
	// words, with NULs between them, that may name any object of the repository.
	Former, Objects string
	// Removal says that what lies at the path is taken away: deleted, or moved
	// elsewhere. It goes with AccessWrite.
	Removal bool
}

// tree is the tree of an access to a path.
func (a *Access) tree() pathrule.Tree {
	return pathrule.Tree{Target: filepath.ToSlash(a.Target), Real: filepath.ToSlash(a.Real), Glob: a.Glob}
}

// FormerUnknown is the [Access.Former] of a read of which no look at a tree, or at the history
// of one work tree, tells what it meets: an object of git by its sum, say, or what a pattern
// with escapes in it matches.
const FormerUnknown = "?"

// String names the access for people, such as "reading everything in /etc".
func (a Access) String() string {
	out := a.named()
	if a.Tree {
		out = a.verb() + " everything in " + printable(a.Target)
	}
	if a.Real != "" && a.Real != a.Target {
		out += ", which is " + printable(a.Real)
	}
	return out
}

// named names the access by what was asked for alone, such as "reading /etc".
func (a Access) named() string { return a.verb() + " " + printable(a.Target) }

func (a Access) verb() string {
	verb, ok := map[AccessKind]string{
		AccessRead: "reading", AccessWrite: "changing", AccessExec: "running",
		AccessNet: "connecting to", AccessSession: "using the session's",
	}[a.Kind]
	if !ok {
		return string(a.Kind)
	}
	return verb
}

// printable quotes a name that would not print as it is.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
