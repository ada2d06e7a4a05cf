package fs

import (
	"bytes"
	"fmt"
	"path/filepath"
)

const (
	// maxDiff bounds the text of a diff, in code points.
	maxDiff = 20_000
	// diffNote is what of it is kept for saying that it was cut.
	diffNote = 100
	// spanSize is more than the line has that a hunk begins with.
	spanSize = 80
	// diffContext is how many lines that stay are told before a change and behind it.
	diffContext = 3
	// maxBlock bounds the text of one change that is compared by lines, and of one
	// line that is told, in bytes. A diff with more of it is cut: it is over 4 bytes,
	// the most a code point has, for each of maxDiff.
	maxBlock = 256 << 10
)

// name is how the file is called in a diff: relative to the session's directory where
// it is below it.
func (p *editPlan) name() string {
	for _, path := range []string{p.node.Real, p.node.Target} {
		if rel, err := filepath.Rel(p.scope.Cwd, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(p.node.Real)
}

// differ makes a unified diff out of what is told of a file in order: what stays and
// what changes. Its memory depends on neither the file's size nor the lines' length.
type differ struct {
	diffText
	added, removed int

	line, newLine int    // so many whole lines came before, in the old text and the new
	part          side   // the start of a line that stays
	before        []side // the last lines that stay, at most diffContext, where no hunk is open
	old, new      side   // a change that is not told yet, from the start of its first line
	open          bool
	hunk          *hunk
}

// side is text that counts its lines, and keeps no more of itself than maxBlock.
type side struct {
	text []byte
	ends int
	tail bool // it does not end with a line ending
	long bool
}

func (s *side) add(text []byte) {
	if len(text) == 0 {
		return
	}
	s.ends += bytes.Count(text, newline)
	s.tail = text[len(text)-1] != '\n'
	if s.long = s.long || len(s.text)+len(text) > maxBlock; !s.long {
		s.text = append(s.text, text...)
	}
}

// lines is how many lines it has.
func (s *side) lines() int {
	if s.tail {
		return s.ends + 1
	}
	return s.ends
}

func newDiffer(name string, made bool) *differ {
	return &differ{diffText: diffText{name: name, made: made}}
}

// same goes on with text that stays.
func (d *differ) same(text []byte) {
	for len(text) > 0 {
		switch {
		case d.open && !d.old.tail && !d.new.tail:
			d.close()
		case d.open:
			line, rest, whole := firstLine(text)
			d.old.add(line)
			d.new.add(line)
			if text = rest; whole {
				d.close()
			}
		case d.hunk != nil:
			line, rest, whole := firstLine(text)
			d.part.add(line)
			if text = rest; whole {
				d.stay()
			}
		default:
			d.skip(text)
			return
		}
	}
}

// change goes on with text that changes.
func (d *differ) change(old, text []byte) {
	if !d.open {
		d.open = true
		d.old, d.new = side{}, side{}
		d.old.add(d.part.text)
		d.new.add(d.part.text)
		d.old.long, d.old.tail = d.part.long, d.part.tail
		d.new.long, d.new.tail = d.part.long, d.part.tail
		d.part = side{}
	}
	d.old.add(old)
	d.new.add(text)
}

func firstLine(text []byte) (line, rest []byte, whole bool) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:], true
	}
	return text, nil, false
}

// skip passes text far from any change, of which only the last lines are kept.
func (d *differ) skip(text []byte) {
	end := bytes.LastIndexByte(text, '\n') + 1
	if end > 0 {
		from := end
		for n := 0; n < diffContext && from > 0; n++ {
			from = bytes.LastIndexByte(text[:from-1], '\n') + 1
		}
		skipped := bytes.Count(text[:from], newline)
		d.line, d.newLine = d.line+skipped, d.newLine+skipped
		if from > 0 {
			d.before, d.part = d.before[:0], side{}
		}
		for rest := text[from:end]; len(rest) > 0; {
			var line []byte
			line, rest, _ = firstLine(rest)
			d.part.add(line)
			d.stay()
		}
	}
	d.part.add(text[end:])
}

// stay has the line that is in part stay.
func (d *differ) stay() {
	s := d.part
	d.part = side{}
	d.line++
	d.newLine++
	if d.hunk == nil {
		if len(d.before) == diffContext {
			d.before = append(d.before[:0], d.before[1:]...)
		}
		d.before = append(d.before, s)
		return
	}
	if d.hunk.after = append(d.hunk.after, s); len(d.hunk.after) > 2*diffContext {
		d.endHunk()
	}
}

// close tells the change that is open.
func (d *differ) close() {
	d.open = false
	old, text := d.old, d.new
	d.old, d.new = side{}, side{}
	if old.long || text.long {
		d.begin().full = true
		d.remove(old.lines(), nil)
		d.add(text.lines(), nil)
		return
	}
	olds, news := bytes.SplitAfter(old.text, newline), bytes.SplitAfter(text.text, newline)
	olds, news = olds[:old.lines()], news[:text.lines()]
	for len(olds) > 0 && len(news) > 0 && bytes.Equal(olds[0], news[0]) {
		d.part.add(olds[0])
		d.stay()
		olds, news = olds[1:], news[1:]
	}
	n := 0
	for n < len(olds) && n < len(news) && bytes.Equal(olds[len(olds)-1-n], news[len(news)-1-n]) {
		n++
	}
	kept := olds[len(olds)-n:]
	if len(olds)+len(news) > 2*n {
		d.begin()
		d.remove(len(olds)-n, olds[:len(olds)-n])
		d.add(len(news)-n, news[:len(news)-n])
	}
	for _, line := range kept {
		d.part.add(line)
		d.stay()
	}
}

func (d *differ) remove(n int, lines [][]byte) {
	d.removed, d.line = d.removed+n, d.line+n
	for _, line := range lines {
		d.tell('-', line)
	}
}

func (d *differ) add(n int, lines [][]byte) {
	d.added, d.newLine = d.added+n, d.newLine+n
	for _, line := range lines {
		d.tell('+', line)
	}
}

// end returns the diff. What is no UTF-8 in it is U+FFFD.
func (d *differ) end() []byte {
	if d.open {
		d.close()
	}
	if d.hunk != nil {
		if d.part.tail {
			d.stay()
		}
		if d.hunk != nil {
			d.endHunk()
		}
	}
	if d.cut {
		fmt.Fprintf(&d.out, "... (the diff is cut here; in all %d lines are added and %d removed)\n", d.added, d.removed)
	}
	return bytes.ToValidUTF8(d.out.Bytes(), []byte("\ufffd"))
}
