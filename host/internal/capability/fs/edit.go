package fs

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
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
