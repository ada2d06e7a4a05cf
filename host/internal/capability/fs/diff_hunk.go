package fs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// diffText is the diff as far as it is told.
type diffText struct {
	name   string
	made   bool // there was no file
	out    bytes.Buffer
	points int // code points in out
	cut    bool
}

// header is what a diff begins with, empty where it has begun.
func (t *diffText) header() string {
	if t.out.Len() > 0 {
		return ""
	}
	from := quoted(t.name)
	if t.made {
		from = "/dev/null"
	}
	return "--- " + from + "\n+++ " + quoted(t.name) + "\n"
}

// put tells a hunk.
func (t *diffText) put(h *hunk) {
	if t.cut = t.cut || h.full; h.olds+h.news == 0 {
		return
	}
	head := t.header() + fmt.Sprintf("@@ -%s +%s @@\n", span(h.from, h.olds), span(h.to, h.news))
	t.points += h.points
	t.out.WriteString(head)
	t.out.Write(h.body.Bytes())
}

// hunk is one hunk that is not told yet.
type hunk struct {
	from, to   int // the lines before it
	olds, news int
	body       bytes.Buffer
	points     int
	full       bool
	after      []side // lines that stayed since the last change
}

// begin begins a hunk, or goes on with the one that is open.
func (d *differ) begin() *hunk {
	if d.hunk == nil {
		d.hunk = &hunk{from: d.line - len(d.before), to: d.newLine - len(d.before), full: d.cut, after: d.before}
		d.hunk.points = utf8.RuneCountInString(d.header()) + spanSize
		d.before = nil
	}
	d.context(d.hunk.after)
	d.hunk.after = nil
	return d.hunk
}

func (d *differ) context(lines []side) {
	for _, s := range lines {
		d.hunk.full = d.hunk.full || s.long
		d.tell(' ', s.text)
	}
}

// tell adds a line to the hunk, if the diff has room.
func (d *differ) tell(sign byte, line []byte) {
	h := d.hunk
	const none = "\n\\ No newline at end of file\n"
	n := utf8.RuneCount(line) + 1
	bare := !bytes.HasSuffix(line, newline)
	if bare {
		n += len(none)
	}
	if h.full = h.full || d.points+h.points+n > maxDiff-diffNote; h.full {
		return
	}
	h.points += n
	h.body.WriteByte(sign)
	h.body.Write(line)
	if bare {
		h.body.WriteString(none)
	}
	if sign != '+' {
		h.olds++
	}
	if sign != '-' {
		h.news++
	}
}

// endHunk tells the hunk that is open, with the lines that stayed behind it.
func (d *differ) endHunk() {
	h := d.hunk
	n := min(len(h.after), diffContext)
	d.context(h.after[:n])
	d.before = append([]side(nil), h.after[max(n, len(h.after)-diffContext):]...)
	d.hunk = nil
	d.put(h)
}

// span is a hunk's range of n lines behind the first lines.
func span(lines, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", lines)
	case 1:
		return strconv.Itoa(lines + 1)
	}
	return fmt.Sprintf("%d,%d", lines+1, n)
}

// quoted is a name as it stands in a diff: git and patch read a name up to a tab, and
// one with other signs in quotes.
func quoted(name string) string {
	if strings.ContainsAny(name, "\"\\") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return strconv.Quote(name)
	}
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}
