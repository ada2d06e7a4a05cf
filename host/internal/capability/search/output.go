package search

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// The bounds of an answer's text.
const (
	maxText = 32 << 20 // bytes, of all of it
	maxLine = 1 << 20  // bytes of one line, where a request sets no other
)

// found is what one file adds to an answer.
type found struct {
	file    file
	cwd     string
	path    string // of the file, as it is shown; see name
	mod     time.Time
	stamp   capability.Stamp // from before it was read
	text    []byte
	entries []entry
	more    bool // it has entries beyond those
}

// entry is one line of an answer.
type entry struct {
	end     int // where it ends in the text
	matches int // how many matches it stands for
	// at is the byte of the file that the line begins with, negative where that is not
	// known. Of the text size bytes, from the byte from on, are as they are in the file;
	// ending is the length of the line's ending, 0 where it does not follow those bytes.
	at         int64
	from, size int
	ending     int
}

// name is the file's path as it is shown: made when it is asked for, since most files
// add nothing.
func (f *found) name() string {
	if f.path == "" {
		f.path = strings.ToValidUTF8(shown(f.cwd, f.file.path()), "\uFFFD")
	}
	return f.path
}

func (f *found) bytes(i int) []byte {
	if i == 0 {
		return f.text[:f.entries[0].end]
	}
	return f.text[f.entries[i-1].end:f.entries[i].end]
}

func (f *found) end(matches int) {
	f.entries = append(f.entries, entry{end: len(f.text), matches: matches, at: -1})
}

// style is how lines are written.
type style struct {
	numbers    bool
	maxColumns int
}

// line adds a line of the file: "path:number:text", with "-" for context. It
// begins with the byte at of the file, which is negative where that is not known.
func (f *found) line(s style, number, at int64, text []byte, match bool) {
	sep, matches := byte('-'), 0
	if match {
		sep, matches = ':', 1
	}
	f.text = append(append(f.text, f.name()...), sep)
	if s.numbers {
		f.text = append(strconv.AppendInt(f.text, number, 10), sep)
	}
	e := entry{matches: matches, at: at, from: len(f.text)}
	f.text, e.size, e.ending = appendText(f.text, text, s.maxColumns)
	f.text = append(f.text, '\n')
	e.end = len(f.text)
	f.entries = append(f.entries, e)
}

// appendText appends a line's text as UTF-8, cut where it is too long. It tells how many
// bytes are as they came, from the first on, and how many the line's ending has where
// nothing before it differs.
func appendText(dst, text []byte, most int) (out []byte, same, ending int) {
	bare := bytes.TrimSuffix(text, []byte("\n"))
	ended := len(bare) < len(text)
	bare = bytes.TrimSuffix(bare, []byte("\r"))
	if most <= 0 {
		most = maxLine
	}
	left := 0
	if len(bare) > most {
		cut := most
		for cut > most-utf8.UTFMax && cut > 0 && !utf8.RuneStart(bare[cut]) {
			cut--
		}
		left = len(bare) - cut
		bare = bare[:cut]
	}
	if same = len(bare); !utf8.Valid(bare) {
		bare, same = bytes.ToValidUTF8(bare, []byte("\uFFFD")), 0
	} else if ended && left == 0 {
		ending = len(text) - same
	}
	dst = append(dst, bare...)
	if left > 0 {
		dst = fmt.Appendf(dst, " [... %d more bytes]", left)
	}
	return dst, same, ending
}

// answers collects what files add, keeping no more of it than an answer can
// show, in an order that does not depend on who found what first.
type answers struct {
	order  func(a, b *found) int
	offset int
	limit  int

	mu        sync.Mutex
	list      []*found
	entries   int
	size      int
	last      *found // what comes behind it is not wanted
	truncated bool
}

// need is how many entries settle an answer: one more than is shown tells that
// some are left out.
func (a *answers) need() int { return a.offset + a.limit + 1 }

// wants reports whether a file could still add to the answer.
func (a *answers) wants(f *found) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last == nil || a.order(f, a.last) <= 0
}

func (a *answers) add(f *found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, f)
	a.entries += len(f.entries)
	a.size += len(f.text)
	if a.entries >= 2*a.need() || a.size >= 2*maxText {
		a.trim()
	}
}

// trim drops what is behind the entries needed.
func (a *answers) trim() {
	slices.SortFunc(a.list, a.order)
	entries, size := 0, 0
	for i, f := range a.list {
		entries += len(f.entries)
		size += len(f.text)
		if entries < a.need() && size < maxText {
			continue
		}
		if i+1 < len(a.list) {
			a.truncated = true
		}
		clear(a.list[i+1:])
		a.list, a.last = a.list[:i+1], f
		break
	}
	a.entries, a.size = entries, size
}

// gap is the entry between groups of lines that are not neighbours.
const gap = "--\n"

// text returns the entries asked for. With gaps, files are set apart as groups
// of lines are. Tell, if it is not nil, is told which entries of each file those are.
func (a *answers) text(gaps bool, ok *abi.ContentsOK, tell func(f *found, entries []int)) []byte {
	a.trim()
	ok.Truncated = a.truncated
	var out []byte
	seen := 0
	show := func(text []byte) bool {
		seen++
		switch {
		case seen <= a.offset:
			return false
		case ok.Entries == a.limit || len(out)+len(text) > maxText:
			ok.Truncated = true
			return false
		}
		out = append(out, text...)
		ok.Entries++
		return true
	}
	var shown []int
	for i, f := range a.list {
		if gaps && i > 0 {
			show([]byte(gap))
		}
		shown = shown[:0]
		for j, e := range f.entries {
			if show(f.bytes(j)) {
				ok.Matches += e.matches
				shown = append(shown, j)
			}
		}
		if len(shown) > 0 {
			ok.Files++
			if tell != nil {
				tell(f, shown)
			}
		}
		ok.Truncated = ok.Truncated || f.more
	}
	return out
}

func byPath(a, b *found) int { return comparePaths(a.name(), b.name()) }

func byTime(a, b *found) int {
	if c := b.mod.Compare(a.mod); c != 0 {
		return c
	}
	return comparePaths(a.name(), b.name())
}
