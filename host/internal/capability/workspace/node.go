package workspace

import (
	"os"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Node is a place in the file system that was resolved, and is held until
// Close. It is not safe for concurrent use.
type Node struct {
	// Target is the path as it was named, made absolute and lexically clean.
	Target string
	// Real is the path of what is held, every link resolved. Where nothing was
	// found it is the last real directory on the way with the rest of the path.
	Real string
	// Info was taken while resolving; zero where nothing was found.
	Info Info

	fault *abi.Error
	// barred tells why no file can be made where none was found, though one could
	// be missing there.
	barred *abi.Error
	held   handle
}

// Err tells why nothing was found, or is nil: a missing file is
// [abi.CodeNotFound].
func (n *Node) Err() error {
	if n.fault == nil {
		return nil
	}
	return n.fault
}

// Exists reports whether something was found.
func (n *Node) Exists() bool { return n.fault == nil }

// Access returns the access that acting on the node is.
func (n *Node) Access(kind permissions.AccessKind, tree bool) permissions.Access {
	return permissions.Access{Kind: kind, Target: n.Target, Real: n.Real, Tree: tree}
}

// Refused returns an error of [abi.CodeNotRegular] for what may not be opened
// whatever the rules say, else nil.
func (n *Node) Refused() error {
	if n.Exists() && n.Info.Kind == abi.KindOther {
		return abi.Errorf(abi.CodeNotRegular, "%s is %s, and only regular files and directories are opened", n.Target, n.Info.what)
	}
	return nil
}

// Open opens the regular file that is held, for reading, and returns what is
// known of it now. It opens nothing else, and never waits for a writer.
func (n *Node) Open() (*os.File, Info, error) {
	if n.fault != nil {
		return nil, Info{}, n.fault
	}
	if err := n.irregular(); err != nil {
		return nil, Info{}, err
	}
	f, info, err := n.held.open(n)
	if err != nil {
		return nil, Info{}, fault(n.Target, err)
	}
	return f, info, nil
}

// irregular tells why what is held is no regular file, or is nil.
func (n *Node) irregular() error {
	switch n.Info.Kind {
	case abi.KindFile:
		return nil
	case abi.KindDirectory:
		return abi.Errorf(abi.CodeIsDirectory, "%s is a directory; name a file in it, or list it", n.Target)
	}
	return n.Refused()
}

// bar notes why no file can be made at a path that leads to nothing: a name before
// ".." is missing, or only a directory is named so.
func (n *Node) bar(dots, dir bool) {
	switch {
	case n.fault == nil || n.fault.Code != abi.CodeNotFound:
	case dots:
		n.barred = abi.Errorf(abi.CodeNotFound, "%s: a directory that \"..\" is to lead out of does not exist; name the path without it", n.Target)
	case dir:
		n.barred = abi.Errorf(abi.CodeIsDirectory, "%s does not exist, and its name is a directory's; name a file", n.Target)
	}
}

// OpenDir opens the directory that is held.
func (n *Node) OpenDir() (*Dir, error) {
	if n.fault != nil {
		return nil, n.fault
	}
	if err := n.Refused(); err != nil {
		return nil, err
	}
	if n.Info.Kind != abi.KindDirectory {
		return nil, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", n.Target)
	}
	d, err := n.held.openDir(n)
	if err != nil {
		return nil, fault(n.Target, err)
	}
	return d, nil
}

// Close lets go of what is held.
func (n *Node) Close() error { return n.held.close() }
