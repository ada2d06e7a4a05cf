package fs

import (
	"bytes"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// patch is a part of the text to replace, and what takes its place there.
type patch struct {
	from, to int
	text     []byte
}

// maxCompared bounds the texts, in bytes, that are compared by lines: larger ones
// differ in one part, between what they begin and end with alike.
const maxCompared = 1 << 20

// patches tells in which parts two texts differ, so that all else of a file stays as
// it is, and the diff is as short as it can be.
func patches(old, text []byte) []patch {
	if len(old)+len(text) > maxCompared {
		return []patch{trimmed(patch{to: len(old), text: text}, old)}
	}
	var out []patch
	for _, e := range udiff.Lines(string(old), string(text)) {
		out = append(out, trimmed(patch{from: e.Start, to: e.End, text: []byte(e.New)}, old))
	}
	return out
}

// trimmed takes from a patch what it leaves as it is, in whole characters.
func trimmed(p patch, old []byte) patch {
	was := old[p.from:p.to]
	n := 0
	for n < len(was) && n < len(p.text) && was[n] == p.text[n] {
		n++
	}
	for n > 0 && (n < len(was) && !utf8.RuneStart(was[n]) || n < len(p.text) && !utf8.RuneStart(p.text[n])) {
		n--
	}
	was, p.text, p.from = was[n:], p.text[n:], p.from+n
	n = 0
	for n < len(was) && n < len(p.text) && was[len(was)-1-n] == p.text[len(p.text)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(was[len(was)-n]) {
		n--
	}
	p.to, p.text = p.to-n, p.text[:len(p.text)-n]
	return p
}

// fitted is what takes the place of one occurrence: its bytes, and for the diff the
// patches of its text.
type fitted struct {
	raw     []byte
	patches []patch
}

// fitter makes what takes the place of an occurrence fit in there.
type fitter struct {
	enc     encoding
	view    view
	crlf    bool // most lines of the file end with it
	patches []patch
	// last and its fit are those of the occurrence before, which most are like.
	last []byte
	fit  fitted
}

func newFitter(r *replacement) *fitter {
	text := r.plan.new
	if r.view.quotes {
		text = straightAsIn(text, r.old)
	}
	return &fitter{enc: r.enc, view: r.view, crlf: r.lines.major(), patches: patches(r.old, text)}
}

// straightAsIn makes those quotes of a text straight whose kind is in old.
func straightAsIn(text, old []byte) []byte {
	single, double := bytes.IndexByte(old, '\'') >= 0, bytes.IndexByte(old, '"') >= 0
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c, ok := straighten(text[i:])
		if ok && (c == '\'' && single || c == '"' && double) {
			out = append(out, c)
			i += curlySize
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// around are the characters before and behind an occurrence, 0 where there is none.
type around struct{ before, after rune }

// of returns what takes the place of an occurrence, valid until the next call.
func (f *fitter) of(text []byte, a around) (fitted, error) {
	if !f.view.quotes && f.last != nil && bytes.Equal(text, f.last) {
		return f.fit, nil
	}
	fit, whole := fitted{}, []byte(nil)
	w := walker{view: f.view, text: text}
	crlf, style, at := f.ending(text), quoteStyle{}, 0
	if f.view.quotes {
		style = styleOf(text)
	}
	for _, p := range f.patches {
		from := w.to(p.from)
		to := w.to(p.to)
		whole = append(whole, text[at:from]...)
		put := p.text
		if f.view.quotes {
			put = style.apply(put, lastRune(whole, a.before), firstRune(text[to:], a.after))
		}
		put = withEndings(put, crlf)
		whole = append(whole, put...)
		fit.patches = append(fit.patches, patch{from: from, to: to, text: put})
		at = to
	}
	whole = append(whole, text[at:]...)
	var err error
	if fit.raw, err = f.enc.encode(nil, whole); err != nil {
		return fitted{}, err
	}
	f.last, f.fit = append(f.last[:0], text...), fit
	return fit, nil
}

// ending reports whether lines that are put in end with CRLF.
func (f *fitter) ending(text []byte) bool {
	crlf := bytes.Count(text, crlfBytes)
	switch bytes.Count(text, newline) - crlf {
	case 0:
		return crlf > 0 || f.crlf
	default:
		return crlf > 0 && f.crlf
	}
}

func lastRune(text []byte, none rune) rune {
	if len(text) == 0 {
		return none
	}
	r, _ := utf8.DecodeLastRune(text)
	return r
}

func firstRune(text []byte, none rune) rune {
	if len(text) == 0 {
		return none
	}
	r, _ := utf8.DecodeRune(text)
	return r
}
