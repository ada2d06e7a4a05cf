package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// stagedWalk resolves a path in a partly staged tree, in which links may be staged, and files
// and directories of the disk may be removed or replaced.
type stagedWalk struct {
	stage capability.Stage
	real  string   // the real path walked so far
	rest  []string // the components still to walk, in order
	links int
	dir   bool // the path must lead to a directory
}

// resolveStaged is [Resolve] for a session whose stage may hold more than files. The node is that
// of the disk at the real path where the walk ends; links on the disk that the session does not
// see are not followed. over is as in [locate].
func resolveStaged(cwd, path string, stage capability.Stage) (n *Node, over bool, err error) {
	p, err := name(cwd, path)
	if err != nil {
		return nil, false, err
	}
	w := &stagedWalk{stage: stage, real: filepath.VolumeName(p.raw) + string(filepath.Separator), dir: p.dir}
	w.expand(p.raw)
	for len(w.rest) > 0 {
		more, err := w.step()
		if err != nil {
			return only(p.target, w.whole(), fault(p.target, err)), true, nil
		}
		if !more {
			break
		}
	}
	lies := w.whole()
	if slices.Contains(w.rest, "..") {
		n = only(p.target, lies, abi.Errorf(abi.CodeNotFound, "%s does not exist", p.target))
		n.bar(true, w.dir)
		return n, true, nil
	}
	if err := refusePath(p.target, lies); err != nil {
		return nil, false, err
	}
	if n, err = Resolve(filepath.Dir(lies), lies); err != nil {
		return nil, false, err
	}
	if n.Real != lies { // the disk has a link on the way, which the session does not see
		_ = n.Close() // nothing was written through it
		n = only(p.target, lies, abi.Errorf(abi.CodeNotFound, "%s does not exist", p.target))
	}
	n.Target = p.target
	n.bar(false, w.dir)
	return n, false, nil
}

// only returns a node for which nothing is open, with the error that says why.
func only(target, lies string, why *abi.Error) *Node {
	return &Node{Target: target, Real: lies, fault: why, held: unheld()}
}

// expand puts the components of a path before those that are still to walk.
func (w *stagedWalk) expand(path string) {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' })
	w.rest = append(parts, w.rest...)
}

// whole returns the path walked so far, followed by the components that are still to walk.
func (w *stagedWalk) whole() string { return filepath.Join(append([]string{w.real}, w.rest...)...) }

// step walks one component. more is false if the component does not exist.
func (w *stagedWalk) step() (more bool, err error) {
	part := w.rest[0]
	switch part {
	case ".":
		w.rest = w.rest[1:]
		return true, nil
	case "..":
		w.rest, w.real = w.rest[1:], filepath.Dir(w.real)
		return true, nil
	}
	next := filepath.Join(w.real, part)
	kind, target, err := w.at(next)
	switch {
	case err != nil:
		return false, err
	case kind == "":
		return false, nil
	case kind == abi.KindSymlink:
		return true, w.follow(target)
	case kind != abi.KindDirectory && len(w.rest) > 1:
		return false, abi.Errorf(abi.CodeNotDirectory, "%s is a file, not a directory", next)
	}
	if w.dir && len(w.rest) == 1 && kind != abi.KindDirectory {
		return false, abi.Errorf(abi.CodeNotDirectory, "%s is not a directory", next)
	}
	w.rest, w.real = w.rest[1:], next
	return true, nil
}

// at returns the kind of the file that the session sees at a path whose directory is resolved, and
// its target if it is a link. An empty kind means that the session sees none.
func (w *stagedWalk) at(path string) (kind, target string, err error) {
	staged, ok, err := w.stage.Lookup(path)
	if err != nil || ok {
		return staged.Kind, staged.Target, err
	}
	if refusePath(path, path) != nil {
		return abi.KindDirectory, "", nil //nolint:nilerr // the whole path is refused at the end
	}
	info, target, err := Lstat(path)
	if abi.CodeOf(err) == abi.CodeChanged {
		return "", "", nil // its directory is staged, and not on the disk
	}
	return info.Kind, target, err
}

func (w *stagedWalk) follow(target string) error {
	if w.links++; w.links > maxLinks {
		return abi.Errorf(abi.CodeIO, "%s has more than %d symbolic links on its way", w.whole(), maxLinks)
	}
	w.rest = w.rest[1:]
	w.dir = w.dir || len(w.rest) == 0 && endsAsDir(target)
	if filepath.IsAbs(target) {
		w.real = filepath.VolumeName(target) + string(filepath.Separator)
	}
	w.expand(target)
	return nil
}
