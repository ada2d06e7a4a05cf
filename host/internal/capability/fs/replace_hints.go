package fs

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// maxHinted is the largest file that is searched for what the text may have meant to
// be, in bytes.
const maxHinted = 1 << 20

// checkSeen fails where what would change was not seen. Where the text is there more
// than once and only one is to be replaced, it is enough that one of them was.
func (r *replacement) checkSeen() error {
	if r.unseen == 0 || !r.plan.all && r.unseen < r.count {
		return nil
	}
	lines, err := r.linesSeen(r.enc)
	if err != nil {
		return err
	}
	return abi.Errorf(abi.CodeNotRead, "%s was read in part (%s), and the text to replace is at line %d; read it there, with offset %d",
		r.plan.node.Target, lines, r.firstUnseen, r.firstUnseen)
}

func (r *replacement) notUnique() error {
	first := slices.Compact(slices.Clone(r.first[:min(r.count, maxPlaces)]))
	lines := make([]string, len(first))
	for i, n := range first {
		lines[i] = strconv.FormatInt(n, 10)
	}
	at, more := "lines", ""
	if r.count > maxPlaces {
		more = " ..."
	} else if len(lines) == 1 {
		at = "line"
	}
	return abi.Errorf(abi.CodeNotUnique,
		"the text to replace is in %s %d times, at %s %s%s; take in more of the text around it, or replace every occurrence",
		r.plan.node.Target, r.count, at, strings.Join(lines, ", "), more)
}

func (r *replacement) noMatch() error {
	tip := "read the file again, and take the text from there"
	if r.mem != nil && r.size <= maxHinted {
		text := toLF(textOf(r.enc, r.mem))
		if h := hint(text, r.plan.old); h != "" {
			tip = h
		}
	}
	return abi.Errorf(abi.CodeNoMatch, "the text to replace is not in %s: %s", r.plan.node.Target, tip)
}

// hint tells in what a text is different from what it may have meant to be; empty
// where nothing in the file is like it.
func hint(text, old []byte) string {
	if plain := unnumbered(old); plain != nil && bytes.Contains(text, plain) {
		return "it is there without the line numbers; leave these out"
	}
	file, want := linesOf(text), linesOf(old)
	if n := findLines(file, want, sameSpaced); n > 0 {
		return fmt.Sprintf("at line %d it is there with other spaces%s", n, tabs(file[n-1:n-1+len(want)], want))
	}
	if i := bytes.Index(bytes.ToLower(text), bytes.ToLower(old)); i >= 0 {
		return fmt.Sprintf("at line %d it is there in another case", bytes.Count(bytes.ToLower(text)[:i], newline)+1)
	}
	if n, same := nearest(file, want); same > 0 {
		at := n + same
		return fmt.Sprintf("lines %d-%d are like its first %d; then line %d is %s, and the text has %s",
			n, at-1, same, at, show(file, at-1), show(want, same))
	}
	return ""
}

func linesOf(text []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(text, newline), newline)
}

func show(lines [][]byte, i int) string {
	const most = 120
	if i >= len(lines) {
		return "missing"
	}
	line := []rune(string(bytes.ToValidUTF8(lines[i], []byte("\ufffd"))))
	if len(line) > most {
		return fmt.Sprintf("%q...", string(line[:most]))
	}
	return fmt.Sprintf("%q", string(line))
}

// sameSpaced reports whether two lines are the same but for their spaces.
func sameSpaced(a, b []byte) bool {
	for {
		a, b = bytes.TrimLeft(a, " \t\r\u00a0"), bytes.TrimLeft(b, " \t\r\u00a0")
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// findLines returns the number of the first line, 1-based, from which on the lines are the
// same as those wanted; 0 where there is none, or too much work to tell.
func findLines(file, want [][]byte, same func(a, b []byte) bool) int {
	work := 16 * maxHinted
	for i := 0; i+len(want) <= len(file); i++ {
		n := 0
		for n < len(want) && same(file[i+n], want[n]) {
			work -= len(file[i+n]) + 1
			n++
		}
		if work -= 16; work < 0 {
			return 0
		}
		if n == len(want) {
			return i + 1
		}
	}
	return 0
}

// tabs says where one of two places is indented with tabs and the other is not.
func tabs(file, want [][]byte) string {
	for i := range want {
		a, b := bytes.HasPrefix(file[i], []byte("\t")), bytes.HasPrefix(want[i], []byte("\t"))
		switch {
		case a && !b:
			return ": the file is indented with tabs"
		case b && !a:
			return ": the file is not indented with tabs"
		}
	}
	return ""
}

// nearest returns the number of the line, 1-based, from which on most lines are those
// at the start of what is wanted, and how many are. An empty line is like no other.
func nearest(file, want [][]byte) (line, same int) {
	work := 16 * maxHinted
	if len(bytes.TrimSpace(want[0])) == 0 {
		return 0, 0
	}
	for i := range file {
		n := 0
		for n < len(want) && i+n < len(file) && bytes.Equal(file[i+n], want[n]) {
			work -= len(want[n]) + 1
			n++
		}
		if work < 0 {
			break
		}
		if n > same {
			line, same = i+1, n
		}
	}
	return line, same
}

// unnumbered takes from each line the number and the tab that a numbered read puts
// before it; nil where a line has none.
func unnumbered(text []byte) []byte {
	var out [][]byte
	for _, line := range linesOf(text) {
		number, rest, ok := bytes.Cut(line, []byte("\t"))
		digits := bytes.TrimLeft(number, " ")
		if !ok || len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 {
			return nil
		}
		out = append(out, rest)
	}
	return bytes.Join(out, newline)
}
