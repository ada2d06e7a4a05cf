package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// writePlan is fs.write. A text takes on how the file that it replaces is encoded,
// byte order mark or none, and how most of its lines end; where as many end with CRLF
// as with LF, they get LF, and so do those of a new file and of an empty one. One that
// was no text gets the text as it is. A character that Latin-1 has not is refused: see
// [encoding.encode].
type writePlan struct {
	editPlan
	bytes bool
	data  []byte
}

func (c *Capability) planWrite(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.WriteArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	e, err := c.planEdit(scope, req, args.Path, args.Expect, 1)
	if err != nil {
		return nil, err
	}
	data := req.Parts[0].Data
	if !args.Bytes {
		err = checkText(data)
	}
	if err == nil && len(data) > MaxEdited {
		err = invalid(req, "the content has %d bytes; a file gets up to %d", len(data), MaxEdited)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &writePlan{editPlan: e, bytes: args.Bytes, data: data}, nil
}

// Do does it; see [abi.WriteArgs].
func (p *writePlan) Do(ctx context.Context, _ capability.Judge) (_ abi.Answer, err error) {
	if p.missing() {
		if err := p.mayMake(); err != nil {
			return abi.Answer{}, err
		}
		return p.store(ctx, nil)
	}
	o, err := p.open()
	if err != nil {
		return abi.Answer{}, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	head, whole, err := o.head()
	if err != nil {
		return abi.Answer{}, p.failed(err)
	}
	enc, _ := sniff(head, whole) // lines of what is binary are counted as of UTF-8
	if err := o.sawAll(enc); err != nil {
		return abi.Answer{}, err
	}
	if err := o.verify(ctx); err != nil {
		return abi.Answer{}, err
	}
	return p.store(ctx, o)
}

// store puts the content in place, unless it lies there.
func (p *writePlan) store(ctx context.Context, o *original) (abi.Answer, error) {
	w := written{raw: p.data}
	var err error
	if !p.bytes {
		w, err = p.text(ctx, o, p.data)
	}
	if err != nil {
		return abi.Answer{}, err
	}
	same, err := o.holds(ctx, w.raw)
	if err != nil {
		return abi.Answer{}, err
	}
	if !same {
		return p.putBytes(ctx, o, w)
	}
	sum := sha256.Sum256(w.raw)
	return answer(abi.WriteOK{Path: p.node.Real, Unchanged: true, Size: o.size, Hash: hex.EncodeToString(sum[:])}, nil), nil
}

// written is a whole new content.
type written struct {
	raw []byte
	enc encoding
	// text says that it is text, and binary that what it replaces is not.
	text, binary bool
}

// putText puts a text in place of a file, nil where there is none.
func (p *editPlan) putText(ctx context.Context, o *original, text []byte) (abi.Answer, error) {
	w, err := p.text(ctx, o, text)
	if err != nil {
		return abi.Answer{}, err
	}
	return p.putBytes(ctx, o, w)
}

// text is what a text becomes in place of a file, nil where there is none.
func (p *editPlan) text(ctx context.Context, o *original, text []byte) (written, error) {
	w := written{raw: text, text: true}
	if o == nil || o.size == 0 {
		w.raw, w.enc = toLF(text), marked(text) // only that of UTF-8 is valid UTF-8
		return w, nil
	}
	head, whole, err := o.head()
	if err != nil {
		return w, p.failed(err)
	}
	enc, err := sniff(head, whole)
	if err != nil {
		w.enc, w.binary = marked(text), true
		return w, nil //nolint:nilerr // what is there is no text, and may be replaced by text
	}
	lines := tally{enc: enc}
	err = o.each(int64(enc.bom()), o.size, func(piece []byte) error {
		lines.add(piece)
		return p.given(ctx)
	})
	if err != nil {
		return w, p.failed(err)
	}
	w.enc = enc
	w.raw, err = styled(text, enc, &lines)
	return w, err
}

// styled gives a text the encoding and the line ending of a file.
func styled(text []byte, enc encoding, lines *tally) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte(boms[utf8BOM])) // which is the file's affair
	if lines.lines() > 0 {
		text = withEndings(toLF(text), lines.major())
	}
	return enc.encode([]byte(boms[enc]), text)
}

// putBytes puts a content in place of a file.
func (p *editPlan) putBytes(ctx context.Context, o *original, w written) (_ abi.Answer, err error) {
	out, err := p.output(w.enc)
	if err != nil {
		return abi.Answer{}, err
	}
	defer func() { err = errors.Join(err, out.discard()) }()
	for rest := w.raw; len(rest) > 0; {
		n := min(len(rest), windowSize)
		if _, err := out.Write(rest[:n]); err != nil {
			return abi.Answer{}, err
		}
		if err := p.given(ctx); err != nil {
			return abi.Answer{}, err
		}
		rest = rest[n:]
	}
	ok := abi.WriteOK{Created: o == nil}
	diff := binaryNote(out.size)
	if w.text {
		ok.Encoding, ok.LineEnding = w.enc.String(), out.lines.name()
	}
	if w.text && !w.binary {
		if diff, err = p.diff(ctx, o, w, &ok); err != nil {
			return abi.Answer{}, err
		}
	}
	if err := out.put(ctx, o, &ok, out.known(o)); err != nil {
		return abi.Answer{}, err
	}
	return answer(ok, diff), nil
}

// holds reports whether the file has this content.
func (o *original) holds(ctx context.Context, raw []byte) (bool, error) {
	if o == nil || o.size != int64(len(raw)) {
		return false, nil
	}
	same, err := o.equals(raw, func() error { return o.plan.given(ctx) })
	if err != nil {
		return false, o.plan.failed(err)
	}
	return same, nil
}

// diff tells the difference between a file and its new text. Of a file that is not
// held in memory all is told as changed.
func (p *editPlan) diff(ctx context.Context, o *original, w written, ok *abi.WriteOK) ([]byte, error) {
	d := newDiffer(p.name(), o == nil)
	text := textOf(w.enc, w.raw)
	switch {
	case o == nil:
		d.change(nil, text)
	case o.mem != nil:
		compare(d, textOf(w.enc, o.mem), text)
	default:
		err := o.each(0, o.size, func(piece []byte) error {
			d.change(textOf(w.enc, piece), nil)
			return p.given(ctx)
		})
		if err != nil {
			return nil, p.failed(err)
		}
		d.change(nil, text)
	}
	diff := d.end()
	ok.Added, ok.Removed, ok.DiffCut = d.added, d.removed, d.cut
	return diff, nil
}

// textOf is the text of a file's bytes, without the byte order mark.
func textOf(enc encoding, raw []byte) []byte {
	if enc.bom() > 0 {
		raw = bytes.TrimPrefix(raw, []byte(boms[enc]))
	}
	s := scanner{enc: enc}
	return s.decode(raw, true)
}
