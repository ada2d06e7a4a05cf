package fs

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// put puts the content in place of the file that it was made from, nil where there is
// none, and completes the answer. Ranges are what the session then knows of it.
func (out *output) put(ctx context.Context, o *original, ok *abi.WriteOK, ranges []capability.Range) error {
	p := out.plan
	sum := out.sum()
	ok.Path, ok.Size, ok.Hash = p.node.Real, out.size, hex.EncodeToString(sum[:])
	if o != nil && o.was.Links > 1 {
		ok.OtherNames = int(o.was.Links - 1)
	}
	if err := p.given(ctx); err != nil {
		return err
	}
	if o != nil {
		if err := o.still(); err != nil {
			return err
		}
	}
	if p.scope.Rehearse {
		return nil
	}
	if err := out.buf.Flush(); err != nil {
		return abi.Errorf(abi.CodeIO, "writing %s: %w", p.node.Target, err)
	}
	var info workspace.Info
	var err error
	if p.scope.Stage != nil {
		info, err = out.stage(ctx, o)
	} else {
		info, err = out.commit(ctx, o, ok)
	}
	if err == nil {
		out.tell(o, info.Stamp(), ranges)
	}
	return err
}

// tell has the session and the call know of the new content.
func (out *output) tell(o *original, stamp capability.Stamp, ranges []capability.Range) {
	path, scope := out.plan.node.Real, out.plan.scope
	own := o != nil && o.own
	switch {
	case scope.Files == nil:
	case own:
		scope.Files.Rewrote(path, stamp)
	default:
		scope.Files.Wrote(path, capability.ReadState{Stamp: stamp, Ranges: ranges})
	}
	if own || o == nil && scope.Own != nil {
		scope.Own.Wrote(path, capability.ReadState{Stamp: stamp, Ranges: out.whole()})
	}
}

// commit is what a write can no longer be given up in: the history has it.
func (out *output) commit(ctx context.Context, o *original, ok *abi.WriteOK) (workspace.Info, error) {
	p := out.plan
	id, err := out.keep(ctx, o)
	if err != nil {
		return workspace.Info{}, err
	}
	info, err := out.swap(o)
	if err != nil {
		if p.scope.History != nil && !errors.Is(err, workspace.ErrUncertain) {
			err = errors.Join(err, p.scope.History.Void(id))
		}
		return workspace.Info{}, err
	}
	ok.History = id
	return info, nil
}

// swap puts the content in place.
func (out *output) swap(o *original) (workspace.Info, error) {
	if o == nil {
		return out.draft.Commit(workspace.Info{})
	}
	if !o.stamp.Settled() {
		if err := out.draft.Sync(); err != nil { // so that little time is left for others
			return workspace.Info{}, err
		}
	}
	if err := o.unchanged(); err != nil {
		return workspace.Info{}, err
	}
	return out.draft.Commit(o.was)
}

// keep has the history hold the former content.
func (out *output) keep(ctx context.Context, o *original) (string, error) {
	p := out.plan
	if p.scope.History == nil {
		return "", nil
	}
	w := capability.Write{Call: p.scope.Call, Path: p.node.Real, AfterHash: out.sum(), AfterSize: out.size}
	if o != nil {
		w.Before, w.BeforeSize, w.Mode = o.reader(), o.size, o.was.Mode
	}
	id, err := p.scope.History.Keep(ctx, w)
	if err == nil {
		return id, nil
	}
	code := abi.CodeOf(err)
	if code == abi.CodeInternal {
		code = abi.CodeIO
	}
	return "", abi.Errorf(code, "%s was not written, for its former content could not be kept: %w", p.node.Target, err)
}

// stage has the content stand for the file from now on. Nothing on the disk changes,
// so that the history has nothing to keep.
func (out *output) stage(ctx context.Context, o *original) (workspace.Info, error) {
	p := out.plan
	w := capability.StagedWrite{Call: p.scope.Call, Path: p.node.Real, Place: out.place, Hash: out.sum(), Size: out.size}
	switch {
	case p.node.Staged != nil:
		w.Was = p.node.Staged.Version
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

// answer is what a write answers with.
func answer(ok abi.WriteOK, diff []byte) abi.Answer {
	return abi.Answer{OK: ok, Body: abi.Bytes(diff), BodyType: abi.PartText, Size: int64(len(diff))}
}

// binaryNote stands for the diff of what is no text.
func binaryNote(size int64) []byte { return fmt.Appendf(nil, "binary content, %d bytes\n", size) }
