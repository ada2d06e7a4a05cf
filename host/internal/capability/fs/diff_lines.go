package fs

import (
	"bytes"

	"github.com/aymanbagabas/go-udiff"
)

// maxCompareLines bounds how many lines of two contents are compared, without those
// that they begin and end with alike: of more, all are told as changed. Comparing takes
// time that grows with the lines times their differences.
const maxCompareLines = 20_000

// compare tells a differ the difference between two whole texts.
func compare(d *differ, old, text []byte) {
	head := commonHead(old, text)
	d.same(old[:head])
	old, text = old[head:], text[head:]
	tail := commonTail(old, text)
	rest := old[len(old)-tail:]
	old, text = old[:len(old)-tail], text[:len(text)-tail]
	if bytes.Count(old, newline)+bytes.Count(text, newline) > maxCompareLines {
		d.change(old, text)
	} else {
		at := 0
		for _, e := range udiff.Lines(string(old), string(text)) {
			d.same(old[at:e.Start])
			d.change(old[e.Start:e.End], []byte(e.New))
			at = e.End
		}
		d.same(old[at:])
	}
	d.same(rest)
}

// commonHead is how long the whole lines are that two texts begin with alike.
func commonHead(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonTail is how long the whole lines are that two texts end with alike.
func commonTail(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	i := bytes.IndexByte(a[len(a)-n:], '\n')
	if i < 0 {
		return 0
	}
	return n - i - 1
}
