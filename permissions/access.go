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
	// file that does not exist it is the real parent with the name. For a part of the session, it
	// is what of it is used, in words, where an answer is to that alone.
	Real string
	// Tree includes everything below the path, as for a search or a directory that a search
	// enters. Only the path itself is judged: denied files below it are left out when the
	// search meets them, and do not deny the tree.
	Tree bool
	// Glob, with Tree, restricts it to paths that match this pattern of a shell. It is
	// absolute, with Target before the first wildcard. If it ends in /**, it includes all
	// below the matches.
	Glob string
	// Links, with Tree, says that links below the path are followed. The host adds the
	// places that they lead to.
	Links bool
	// Former, with Tree, says that git prints present and former content of the path: it is
	// the work tree of the repository that git uses, or [FormerUnknown]. Objects are the
	// words, with NULs between them, that may name any object of the repository.
	Former, Objects string
	// Removal, with AccessWrite, says that the file or directory is deleted or moved
	// elsewhere.
	Removal bool
}

// tree is the tree of an access to a path.
func (a *Access) tree() pathrule.Tree {
	return pathrule.Tree{Target: filepath.ToSlash(a.Target), Real: filepath.ToSlash(a.Real), Glob: a.Glob}
}

// FormerUnknown is the [Access.Former] of a read whose content neither a tree nor the history of
// one work tree tells, such as an object of git by its hash, or a pattern with escapes.
const FormerUnknown = "?"

// String describes the access for people, such as "reading everything in /etc".
func (a Access) String() string {
	out := a.named()
	if a.Tree {
		out = a.verb() + " everything in " + printable(a.Target)
	}
	if a.Real != "" && a.Real != a.Target && a.Kind != AccessSession {
		out += ", which is " + printable(a.Real)
	}
	return out
}

// named describes the access as it was asked for, such as "reading /etc".
func (a Access) named() string { return a.verb() + " " + printable(a.Target) }

func (a Access) verb() string {
	verb, ok := map[AccessKind]string{
		AccessRead: "reading", AccessWrite: "changing", AccessExec: "running",
		AccessNet: "connecting to", AccessSession: "using the session's",
	}[a.Kind]
	switch {
	case !ok:
		return string(a.Kind)
	case a.ChangesBeyond():
		return "changing the session's"
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
