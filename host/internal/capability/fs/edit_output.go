package fs

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"path/filepath"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

// output is where new content goes: into a draft, or in a rehearsal nowhere. It knows
// what the content is, either way.
type output struct {
	plan  *editPlan
	draft *workspace.Draft // nil in a rehearsal
	place string           // in the stage; empty without one
	buf   *bufio.Writer
	hash  hash.Hash
	size  int64
	lines tally
}

// outputSize is how much is gathered before it is written: what many small places of
// one file would else cost in system calls.
const outputSize = 256 << 10

func (p *editPlan) output(enc encoding) (*output, error) {
	out := &output{plan: p, hash: sha256.New(), lines: tally{enc: enc}}
	if p.scope.Rehearse {
		out.buf = bufio.NewWriterSize(io.Discard, 0)
		return out, nil
	}
	draft, place, err := begin(&p.scope, p.node)
	if err != nil {
		return nil, err
	}
	out.draft, out.place, out.buf = draft, place, bufio.NewWriterSize(draft, outputSize)
	return out, nil
}

// begin begins new content: beside the file, or in the stage, which it then has a
// place in.
func begin(scope *capability.Scope, node *workspace.Overlaid) (draft *workspace.Draft, place string, err error) {
	if scope.Stage == nil {
		draft, err = node.Draft()
		return draft, "", err
	}
	if err := node.Stageable(); err != nil {
		return nil, "", err
	}
	if place, err = scope.Stage.Place(); err != nil {
		return nil, "", err
	}
	into, err := workspace.Resolve(filepath.Dir(place), place)
	if err != nil {
		return nil, "", err
	}
	into.Target = node.Target // for messages
	draft, err = into.Draft() // with the mode that a new file has, in case it is applied as one
	return draft, place, errors.Join(err, into.Close())
}

// Write adds to the content. UTF-16 comes in whole units.
func (out *output) Write(raw []byte) (int, error) {
	if out.size += int64(len(raw)); out.size > MaxEdited {
		return 0, abi.Errorf(abi.CodeTooLarge, "%s would get more than %d bytes", out.plan.node.Target, MaxEdited)
	}
	out.hash.Write(raw)
	out.lines.add(raw)
	n, err := out.buf.Write(raw)
	if err != nil {
		if _, ok := errors.AsType[*abi.Error](err); !ok {
			err = abi.Errorf(abi.CodeIO, "writing %s: %w", out.plan.node.Target, err)
		}
	}
	return n, err
}

// sum is the hash of the content.
func (out *output) sum() (sum [32]byte) {
	out.hash.Sum(sum[:0])
	return sum
}

// discard takes away what was not put in place.
func (out *output) discard() error {
	if out.draft == nil {
		return nil
	}
	return out.draft.Discard()
}

// whole is the range of all of a content.
func (out *output) whole() []capability.Range {
	if out.size == 0 {
		return nil
	}
	return []capability.Range{{To: out.size, Hash: out.sum()}}
}

// known is what the session knows of a file after it was written whole: all of it,
// unless the write stood on a hash and not on the model's having seen the former content,
// of which the new one may hold the most.
func (out *output) known(o *original) []capability.Range {
	if o != nil && out.plan.scope.Files != nil && !o.readState.Whole() {
		return nil
	}
	return out.whole()
}
