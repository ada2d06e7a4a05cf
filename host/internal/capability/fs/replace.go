package fs

import (
	"bytes"
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// replacePlan is fs.replace. Text is replaced as Python's str.replace does it, in the
// file's text with every CRLF seen as LF:
//
//   - What is replaced are the leftmost occurrences that do not overlap: "aa" is in
//     "aaa" once, and so unique there. Both texts may come with CRLF or LF.
//   - Only the parts in which the two texts differ are written; all else, bytes that are
//     no text too, stays byte for byte.
//   - Lines that are put in end as those do that are replaced; where these have no
//     ending, or both kinds, as most in the file do, and with LF where there is none.
//   - Where the exact text is nowhere in the file and has quotes, ' " ‘ ’ “ ” match each
//     other by kind, single or double. Quotes that are put in get the style that the
//     replaced place has for their kind (curly where it has as many of both); which way
//     a curly one faces is told by what stands around it: see [curly]. A kind that is
//     not in the text to replace is put in as it came.
//   - An empty text to replace makes a file that is missing and fills an empty one. In
//     any other it is nowhere ([abi.CodeNoMatch]).
type replacePlan struct {
	editPlan
	all      bool
	old, new []byte // with LF
	came     []byte // new, as it came
}

func (c *Capability) planReplace(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.ReplaceArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	for _, p := range req.Parts {
		if err := checkText(p.Data); err != nil {
			return nil, err
		}
	}
	e, err := c.planEdit(scope, req, args.Path, args.Expect, 2)
	if err != nil {
		return nil, err
	}
	old, text := req.Parts[0].Data, req.Parts[1].Data
	return &replacePlan{editPlan: e, all: args.All, old: toLF(old), new: toLF(text), came: text}, nil
}

// Do does it; see [abi.ReplaceArgs].
func (p *replacePlan) Do(ctx context.Context, _ capability.Judge) (_ abi.Answer, err error) {
	if len(p.old) == 0 && p.missing() {
		return p.make(ctx)
	}
	o, err := p.open()
	if err != nil {
		return abi.Answer{}, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	if len(p.old) == 0 {
		return p.fill(ctx, o)
	}
	r, err := p.survey(ctx, o)
	if err != nil {
		return abi.Answer{}, err
	}
	return r.rewrite(ctx)
}

// make makes a file that is missing.
func (p *replacePlan) make(ctx context.Context) (abi.Answer, error) {
	if err := p.mayMake(); err != nil {
		return abi.Answer{}, err
	}
	if len(p.new) == 0 {
		return abi.Answer{}, p.sameTexts()
	}
	return p.putText(ctx, nil, p.came)
}

// fill puts text into an empty file.
func (p *replacePlan) fill(ctx context.Context, o *original) (abi.Answer, error) {
	if err := o.verify(ctx); err != nil {
		return abi.Answer{}, err
	}
	if len(p.new) == 0 {
		return abi.Answer{}, p.sameTexts()
	}
	if o.size > 0 {
		return abi.Answer{}, abi.Errorf(abi.CodeNoMatch,
			"%s is not empty, and an empty text to replace only makes a new file or fills an empty one; "+
				"name the text beside which the new text is to stand, or write the whole file", p.node.Target)
	}
	return p.putText(ctx, o, p.came)
}

func (p *replacePlan) sameTexts() error {
	return abi.Errorf(abi.CodeSameText, "the text to replace and what takes its place are the same; nothing would change")
}

// survey looks for the text and makes the checks, in their order.
func (p *replacePlan) survey(ctx context.Context, o *original) (*replacement, error) {
	head, whole, err := o.head()
	if err != nil {
		return nil, p.failed(err)
	}
	enc, binary := sniff(head, whole)
	r := &replacement{original: o, plan: p, enc: enc, old: p.old}
	if binary == nil {
		if err := r.find(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.checkSeen(); err != nil {
		return nil, err
	}
	if err := o.verify(ctx); err != nil {
		return nil, err
	}
	switch {
	case bytes.Equal(p.old, p.new):
		return nil, p.sameTexts()
	case binary != nil:
		return nil, abi.Errorf(abi.CodeNotText, "%s is binary, not text; nothing was replaced", p.node.Target)
	case r.count == 0:
		return nil, r.noMatch()
	case r.count > 1 && !p.all:
		return nil, r.notUnique()
	}
	return r, nil
}
