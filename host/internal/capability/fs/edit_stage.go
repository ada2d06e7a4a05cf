package fs

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// begin begins new content: beside the file, or in the stage, which it then has a
// place in.
func (p *editPlan) begin() (draft *workspace.Draft, place string, err error) {
	if p.scope.Stage == nil {
		draft, err = p.node.Draft()
		return draft, "", err
	}
	if err := p.node.Stageable(); err != nil {
		return nil, "", err
	}
	if place, err = p.scope.Stage.Place(); err != nil {
		return nil, "", err
	}
	into, err := workspace.Resolve(filepath.Dir(place), place)
	if err != nil {
		return nil, "", err
	}
	into.Target = p.node.Target // for messages
	draft, err = into.Draft()
	return draft, place, errors.Join(err, into.Close())
}

// stage has the content stand for the file from now on. Nothing on the disk changes,
// so that the history has nothing to keep.
func (out *output) stage(ctx context.Context, o *original) (workspace.Info, error) {
	p := out.plan
	w := capability.StagedWrite{Call: p.scope.Call, Path: p.node.Real, Place: out.place, Hash: out.sum(), Size: out.size}
	switch {
	case p.node.Staged != nil:
		w.Was = p.node.Staged.Place
	case o != nil:
		sum, err := o.sum(ctx, 0, o.size)
		if err != nil {
			return workspace.Info{}, err
		}
		if err := o.still(); err != nil { // the sum may be of two contents
			return workspace.Info{}, err
		}
		if err := o.unchanged(); err != nil {
			return workspace.Info{}, err
		}
		w.Base = &capability.StagedBase{Hash: sum, Size: o.size, Mode: o.was.Mode}
	}
	info, err := out.draft.Commit(workspace.Info{})
	if err != nil {
		return info, err
	}
	return info, p.scope.Stage.Put(ctx, w)
}
