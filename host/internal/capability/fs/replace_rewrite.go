package fs

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// rewriting goes through the file once more, and writes it with the text replaced.
type rewriting struct {
	*replacement
	out    *output
	fitter *fitter
	diff   *differ
	seen   *mapping // nil where all of the new content is known, or nobody asks
	other  bool     // something is not as it was
}

func (r *replacement) rewrite(ctx context.Context) (_ abi.Answer, err error) {
	out, err := r.plan.output(r.enc)
	if err != nil {
		return abi.Answer{}, err
	}
	defer func() { err = errors.Join(err, out.discard()) }()
	w := &rewriting{replacement: r, out: out, fitter: newFitter(r), diff: newDiffer(r.plan.name(), false)}
	if r.plan.scope.Files != nil && !r.readState.Whole() {
		w.seen = newMapping(r.readState)
	}
	if err := r.scan(ctx, w.between, w.found); err != nil {
		return abi.Answer{}, err
	}
	if !w.other {
		return abi.Answer{}, abi.Errorf(abi.CodeSameText,
			"with the quotes and line endings that %s has, what takes the place of the text is the same; nothing would change",
			r.plan.node.Target)
	}
	text := w.diff.end()
	ok := abi.WriteOK{
		Encoding: r.enc.String(), LineEnding: out.lines.name(), Replaced: r.count,
		Added: w.diff.added, Removed: w.diff.removed, DiffCut: w.diff.cut,
	}
	ranges := out.whole()
	if w.seen != nil {
		w.seen.end()
		ranges = w.seen.done
	}
	if err := out.put(ctx, r.original, &ok, ranges); err != nil {
		return abi.Answer{}, err
	}
	return answer(ok, text), nil
}

// between copies what stays.
func (w *rewriting) between(p piece) error {
	if w.seen != nil {
		w.seen.same(p.at, w.out.size, p.raw)
	}
	w.diff.same(p.text)
	_, err := w.out.Write(p.raw)
	return err
}

// found writes what takes the place of an occurrence.
func (w *rewriting) found(p piece) error {
	a, err := w.around(p)
	if err != nil {
		return err
	}
	fit, err := w.fitter.of(p.text, a)
	if err != nil {
		return err
	}
	if w.seen != nil {
		w.seen.put(p.at, p.at+int64(len(p.raw)), w.out.size, fit.raw)
	}
	at := 0
	for _, c := range fit.patches {
		w.diff.same(p.text[at:c.from])
		w.diff.change(p.text[c.from:c.to], c.text)
		at = c.to
	}
	w.diff.same(p.text[at:])
	w.other = w.other || !bytes.Equal(p.raw, fit.raw)
	_, err = w.out.Write(fit.raw)
	return err
}

// around finds the characters around an occurrence, which quotes need to know.
func (w *rewriting) around(p piece) (a around, err error) {
	if !w.view.quotes {
		return a, nil
	}
	start, end := int64(w.enc.bom()), p.at+int64(len(p.raw))
	before, err := w.textAt(max(p.at-utf8.UTFMax, start), p.at)
	if err != nil {
		return a, err
	}
	after, err := w.textAt(end, min(end+utf8.UTFMax, w.size))
	if err != nil {
		return a, err
	}
	return around{before: lastRune(before, 0), after: firstRune(after, 0)}, nil
}

// textAt is the text of a few bytes, which may begin or end within a character.
func (w *rewriting) textAt(from, to int64) ([]byte, error) {
	raw, err := w.window(make([]byte, utf8.UTFMax), from, to-from)
	if err != nil {
		return nil, err
	}
	s := scanner{enc: w.enc}
	return s.decode(raw, true), nil
}
