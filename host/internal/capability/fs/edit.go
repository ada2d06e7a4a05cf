package fs

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

// MaxEdited is the largest file that is written over, and the largest that a write
// makes, in bytes.
const MaxEdited = 1 << 30

// editPlan is what the plans of fs.write and fs.replace share: the node, and what
// its content has to be.
type editPlan struct {
	held
	scope  capability.Scope
	expect string
}

func (c *Capability) planEdit(scope capability.Scope, req abi.Request, path, expect string, parts int) (editPlan, error) {
	if len(req.Parts) != parts {
		return editPlan{}, invalid(req, "the request has %d parts, and not %d", len(req.Parts), parts)
	}
	if expect != "" && expect != abi.ExpectAbsent && !isHash(expect) {
		return editPlan{}, invalid(req, "expect is %q; it is %q, a SHA-256 in lower-case hexadecimal, or empty", expect, abi.ExpectAbsent)
	}
	h, err := hold(scope, path)
	if err != nil {
		return editPlan{}, err
	}
	return editPlan{held: h, scope: scope, expect: expect}, nil
}

func isHash(s string) bool {
	sum, err := hex.DecodeString(s)
	return err == nil && len(sum) == 32 && hex.EncodeToString(sum) == s
}

// Accesses names the node: a write is one access, although it reads too.
func (p *editPlan) Accesses() []permissions.Access {
	return []permissions.Access{p.node.Access(permissions.AccessWrite, false)}
}

// expectsHash reports whether the request itself says which content it is for.
func (p *editPlan) expectsHash() bool { return p.expect != "" && p.expect != abi.ExpectAbsent }

// missing reports whether there is no file yet.
func (p *editPlan) missing() bool { return abi.CodeOf(p.node.Err()) == abi.CodeNotFound }

// mayMake checks what is expected of a file that is missing.
func (p *editPlan) mayMake() error {
	if p.expectsHash() {
		return abi.Errorf(abi.CodeChanged, "%s is missing, and its former content was expected", p.node.Target)
	}
	return nil
}

// original is a file that is about to be written over.
type original struct {
	content
	plan *editPlan
	// was is the file before anything of it was read, and stamp was taken then.
	was   workspace.Info
	stamp capability.Stamp
	// first is the hash of the content where the stamp is not settled and the content
	// not in memory: see [original.mark].
	first [32]byte
	// readState is what the session has seen of it, where that matters. With own it is what
	// the call has read of it, which the write stands on instead.
	readState capability.ReadState
	own       bool
}

// open opens the file and checks that the session has read some of it.
func (p *editPlan) open() (*original, error) {
	file, info, err := p.node.Open()
	if err != nil {
		return nil, err
	}
	o := &original{content: content{file: file, size: info.Size, step: windowSize}, plan: p, was: info, stamp: info.Stamp()}
	if err := o.admit(); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *original) admit() error {
	p := o.plan
	if p.scope.Files != nil && !o.readByCall() {
		readState, known := p.scope.Files.Seen(p.node.Real)
		if o.readState = readState; !known {
			return abi.Errorf(abi.CodeNotRead, "%s was not read in this session; read it before writing to it", p.node.Target)
		}
	}
	if o.size > MaxEdited {
		return abi.Errorf(abi.CodeTooLarge, "%s has %d bytes; files of up to %d are edited", p.node.Target, o.size, MaxEdited)
	}
	err := o.load()
	if err == nil {
		err = o.mark()
	}
	if err != nil {
		return p.failed(err)
	}
	return nil
}

// readByCall reports whether the write stands on what the call itself has read: all of
// the file, of which the request names the hash. Where the model has seen all of just
// that, the write stands on this, so that the session goes on knowing the file.
func (o *original) readByCall() bool {
	p := o.plan
	if p.scope.Own == nil || !p.expectsHash() {
		return false
	}
	if seen, _ := p.scope.Files.Seen(p.node.Real); len(seen.Ranges) > 0 && seen.Whole() && seen.Stamp.Same(o.was.Stamp()) {
		return false
	}
	read, known := p.scope.Own.Seen(p.node.Real)
	if !known || !read.Whole() {
		return false
	}
	o.readState, o.own = read, true
	return true
}

// still fails where the file was written to since it was opened: what was read of it
// may be of two contents.
func (o *original) still() error {
	file, now, err := o.plan.node.Open()
	if err != nil {
		return err
	}
	_ = file.Close() // nothing was done with it
	if !now.Stamp().Same(o.was.Stamp()) {
		return o.overtaken()
	}
	return nil
}

// failed explains an error of reading the file.
func (p *editPlan) failed(err error) error {
	if _, ok := errors.AsType[*abi.Error](err); ok {
		return err
	}
	if errors.Is(err, errShorter) {
		return p.changed()
	}
	return abi.Errorf(abi.CodeIO, "reading %s: %w", p.node.Target, err)
}

func (p *editPlan) changed() error {
	return abi.Errorf(abi.CodeChanged, "%s has changed since it was read; read it again", p.node.Target)
}

// given fails once the call is given up. It is asked between pieces of work, and no
// more once the history holds the write.
func (p *editPlan) given(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return abi.Errorf(abi.CodeOfEnd(ctx), "given up before %s was written: %w", p.node.Target, context.Cause(ctx))
}
