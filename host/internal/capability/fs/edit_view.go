package fs

import "bytes"

// view is how text is looked at to find text in it: with every CRLF as LF, and where
// quotes is set, with curly quotes as straight ones.
type view struct{ quotes bool }

// block bounds how far a view looks ahead for what it changes, so that text dense with
// one such thing is not searched to its end for another, again and again.
const block = 512

// plain reports whether a text looks in the view as it is, for finding pattern.
func (v view) plain(text, pattern []byte, last bool) bool {
	if v.quotes {
		return false
	}
	if bytes.IndexByte(pattern, '\n') < 0 && bytes.IndexByte(pattern, '\r') < 0 {
		return true
	}
	return !bytes.Contains(text, crlfBytes) && (last || !bytes.HasSuffix(text, carriage))
}

// run is how many bytes at the start of a text look as they are; at most block.
func (v view) run(text []byte) int {
	text = text[:min(len(text), block)]
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		text = text[:i]
	}
	if v.quotes {
		if i := bytes.IndexByte(text, curlyLead); i >= 0 {
			return i
		}
	}
	return len(text)
}

// special is what a text starts with where run is 0: so many bytes that look like one.
// It is of size 0 where what comes next must be known first.
func (v view) special(text []byte, last bool) (size int, looks byte) {
	switch c := text[0]; {
	case c == '\r' && len(text) > 1 && text[1] == '\n':
		return 2, '\n'
	case c == '\r' && len(text) == 1 && !last:
		return 0, 0
	case c == curlyLead && v.quotes:
		if len(text) < curlySize && !last {
			return 0, 0
		}
		if straight, ok := straighten(text); ok {
			return curlySize, straight
		}
	}
	return 1, text[0]
}

// look appends what a text looks like to dst, and says how much of the text that is:
// all but what cannot be told without what comes next, unless text is the last.
func (v view) look(dst, text []byte, last bool) (seen []byte, used int) {
	for used < len(text) {
		if n := v.run(text[used:]); n > 0 {
			dst = append(dst, text[used:used+n]...)
			used += n
			continue
		}
		size, looks := v.special(text[used:], last)
		if size == 0 {
			break
		}
		dst = append(dst, looks)
		used += size
	}
	return dst, used
}

// walker finds places of a text by those of what it looks like, which it is asked for
// in order.
type walker struct {
	view
	text  []byte
	plain bool
	at    int // in the text,
	seen  int // and in what it looks like
}

// to returns the place in the text of a place in what it looks like.
func (w *walker) to(seen int) int {
	if w.plain {
		return seen
	}
	for w.seen < seen {
		if n := min(w.run(w.text[w.at:]), seen-w.seen); n > 0 {
			w.at, w.seen = w.at+n, w.seen+n
			continue
		}
		size, _ := w.special(w.text[w.at:], true)
		w.at, w.seen = w.at+size, w.seen+1
	}
	return w.at
}

// straight returns a text with its curly quotes straight.
func straight(text []byte) []byte {
	out, _ := view{quotes: true}.look(nil, text, true)
	return out
}
