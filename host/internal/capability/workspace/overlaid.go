package workspace

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Overlaid is a node as a staged session sees it: rules judge its path on the disk, and its
// content is the staged one. Without a stage it is the node itself. It is not safe for concurrent
// use.
type Overlaid struct {
	*Node
	// Info is the metadata of the file that the session sees: of its staged content, if any.
	Info Info
	// Staged is what is staged for this file; nil if nothing is.
	Staged *capability.Staged

	// content is the staged content, held open; nil if there is none.
	content *Node
	// absent says that what the session sees is not on the disk: a directory that only
	// staged files lie in, or nothing.
	absent bool
	// vacant says that the path was removed in the stage: new content can be staged there,
	// whatever is on the disk.
	vacant bool
	fault  error
}

// Overlay resolves a path, and looks for it in a stage; nil is none.
func Overlay(cwd, path string, stage capability.Stage) (*Overlaid, error) {
	n, over, err := locate(cwd, path, stage)
	if err != nil {
		return nil, err
	}
	o := &Overlaid{Node: n, Info: n.Info, fault: n.Err()}
	if stage == nil || over {
		return o, nil
	}
	if err := o.look(stage); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// locate resolves a path, on the disk or, if links or removals may be staged, through the stage.
// over reports that the path leads nowhere: then nothing can be staged there.
func locate(cwd, path string, stage capability.Stage) (n *Node, over bool, err error) {
	if stage != nil {
		shaped, err := stage.Shaped()
		if err != nil {
			return nil, false, err
		}
		if shaped {
			return resolveStaged(cwd, path, stage)
		}
	}
	n, err = Resolve(cwd, path)
	return n, false, err
}

// look finds what is staged. Content that gives way to newer while it is looked for
// is looked for again.
func (o *Overlaid) look(stage capability.Stage) error {
	const tries = 5
	for range tries {
		staged, ok, err := stage.Lookup(o.Real)
		if err != nil || !ok {
			return err
		}
		if staged.Kind != abi.KindFile {
			return o.take(&staged)
		}
		content, err := Resolve(filepath.Dir(staged.Place), staged.Place)
		if err != nil {
			return err
		}
		if content.Exists() {
			content.Target = o.Target // for messages
			o.content, o.Info, o.Staged, o.fault = content, content.Info, &staged, nil
			return nil
		}
		if err := content.Close(); err != nil {
			return err
		}
	}
	return abi.Errorf(abi.CodeIO, "what is staged for %s cannot be found; toolquay stage list shows what is staged", o.Target)
}

// take applies a staged entry that is not a regular file.
func (o *Overlaid) take(staged *capability.Staged) error {
	switch staged.Kind {
	case abi.KindDirectory:
		o.absent = staged.Opaque || o.fault != nil || o.Node.Info.Kind != abi.KindDirectory
		o.fault = nil
		if o.absent {
			o.Info = Info{Kind: abi.KindDirectory, ModTime: staged.Time}
		}
	case "":
		o.absent, o.vacant, o.Info = true, true, Info{}
		if abi.CodeOf(o.fault) != abi.CodeNotDirectory {
			o.fault = abi.Errorf(abi.CodeNotFound, "%s does not exist: this session removed it", o.Target)
		}
	default:
		o.absent, o.Info = true, Info{Kind: abi.KindOther, what: "a special file"}
		o.fault = abi.Errorf(abi.CodeNotRegular, "%s is a special file, and only regular files and directories are opened", o.Target)
	}
	return nil
}

// Err tells why nothing was found, or is nil; see [Node.Err].
func (o *Overlaid) Err() error { return o.fault }

// Exists reports whether something was found.
func (o *Overlaid) Exists() bool { return o.fault == nil }

// OnDisk reports whether what was found is on the disk. A directory in which the session sees
// only staged entries is not.
func (o *Overlaid) OnDisk() bool { return o.Node.Exists() && !o.absent && o.content == nil }

// Open opens the content; see [Node.Open].
func (o *Overlaid) Open() (*os.File, Info, error) {
	switch {
	case o.fault != nil:
		return nil, Info{}, o.fault
	case o.content != nil:
		return o.content.Open()
	case o.absent:
		return nil, Info{}, abi.Errorf(abi.CodeIsDirectory, "%s is a directory; name a file in it, or list it", o.Target)
	}
	return o.Node.Open()
}

// OpenDir opens the directory on the disk; nil where only staged files lie in it.
func (o *Overlaid) OpenDir() (*Dir, error) {
	switch {
	case o.fault != nil:
		return nil, o.fault
	case o.content != nil:
		return nil, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", o.Target)
	case o.absent:
		return nil, nil //nolint:nilnil // that is what there is
	}
	return o.Node.OpenDir()
}

// Close lets go of what is held.
func (o *Overlaid) Close() error {
	if o.content == nil {
		return o.Node.Close()
	}
	return errors.Join(o.content.Close(), o.Node.Close())
}

// Stageable tells why no content can be staged for the node, or is nil: where nothing is
// staged yet, just where none could be put on the disk, see [Node.Stageable].
func (o *Overlaid) Stageable() error {
	switch {
	case o.content != nil:
		return nil // it was asked before
	case o.vacant && abi.CodeOf(o.fault) == abi.CodeNotFound:
		return nil
	case o.absent && o.fault != nil:
		return o.fault
	case o.absent:
		return abi.Errorf(abi.CodeIsDirectory, "%s is a directory; name a file", o.Target)
	}
	return o.Node.Stageable()
}

// Stageable tells why no [Node.Draft] could be begun now, or is nil. On systems without
// files that have no name it makes one beside the file for that, and takes it away again.
func (n *Node) Stageable() error {
	if err := n.draftable(); err != nil || !n.Exists() {
		return err // directories that are missing are not made for the asking
	}
	d, err := n.Draft()
	if err != nil {
		return err
	}
	return d.Discard()
}

// InfoOf returns the metadata of a staged entry that is not a removal. It follows no link.
func InfoOf(s capability.Staged) (Info, error) {
	info, _, err := Lstat(s.Place)
	if err == nil && info.Kind == "" {
		err = abi.Errorf(abi.CodeNotFound, "%s is no longer staged", s.Path)
	}
	return info, err
}

// Children returns what is staged directly in a directory, by name, removals included. An
// entry may be on the disk too.
func Children(stage capability.Stage, dir string) (map[string]capability.Staged, error) {
	if stage == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	list, err := stage.Children(dir)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out := make(map[string]capability.Staged, len(list))
	for _, s := range list {
		out[filepath.Base(s.Path)] = s
	}
	return out, nil
}
