package regexp

import "bytes"

// The states in which a table stays: the byte is the first behind a match, or it is
// not ASCII, so that the guest has to look at its line.
const (
	matched = 255
	foreign = 254
)

// table finds the lines that an expression matches, as far as they are ASCII. The
// guest makes it, where it is small. No table leads out of itself, whatever the guest
// wrote: states are bytes, and each row has 256.
type table struct {
	rows [256]*[256]uint8 // of each byte: which state follows on which
}

// readTable reads what the guest's table writes; nil where that is none.
func readTable(b []byte) *table {
	const row = 256
	if len(b) <= row || len(b)%row != 0 {
		return nil
	}
	rows := make([][row]uint8, len(b)/row-1)
	for i := range rows {
		copy(rows[i][:], b[(i+1)*row:])
		rows[i][matched] = matched // a table that went on would miss what it found
		rows[i][foreign] = foreign
	}
	t := new(table)
	for c := range t.rows {
		if int(b[c]) >= len(rows) {
			return nil
		}
		t.rows[c] = &rows[b[c]]
	}
	return t
}

// How much text is looked at at once, in bytes for each of the lanes: the more, the
// longer no match was found, since one in a late lane is looked for twice.
const (
	minLane = 64
	maxLane = 4 << 10
)

// find returns where the table first comes to matched or foreign in whole lines; the
// text's length where it does not. The last line may have no newline: a match there
// may be at the text's length. Lane is the size to begin with.
func (t *table) find(text []byte, lane int) (at int, state uint8) {
	for from := 0; from < len(text); {
		rest := text[from:]
		end := len(rest)
		if end > 4*lane {
			end = bytes.LastIndexByte(rest[:4*lane], '\n') + 1
			if end == 0 {
				end = lineEnd(rest, 4*lane)
			}
		}
		if !t.inLanes(rest[:end]) {
			if at, state := t.inOne(rest[:end], 0); state >= foreign {
				return from + at, state
			}
		}
		from += end
		lane = min(2*lane, maxLane)
	}
	return len(text), 0
}

// inOne is find in one lane, from a state on.
func (t *table) inOne(text []byte, state uint8) (int, uint8) {
	if state >= foreign {
		return 0, state
	}
	for at, c := range text {
		if state = t.rows[c][state]; state >= foreign {
			return at, state
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		state = t.rows['\n'][state]
	}
	return len(text), state
}

// inLanes reports whether there is surely nothing to find. One lane waits for the
// memory with each byte; four, each with lines of its own, wait at the same time.
func (t *table) inLanes(text []byte) bool {
	lane := len(text) / 4
	if lane < minLane {
		return false
	}
	var a, b, c []byte
	d := text
	a, d = cut(d, lane)
	b, d = cut(d, lane)
	c, d = cut(d, lane)
	n := min(len(a), len(b), len(c), len(d)-1) // the end of the text is left to inOne
	if n < lane/2 {
		return false
	}
	states := t.four(a[:n], b[:n], c[:n], d[:n])
	for i, left := range [4][]byte{a[n:], b[n:], c[n:], d[n:]} {
		if _, state := t.inOne(left, states[i]); state >= foreign {
			return false
		}
	}
	return true
}

// four goes through four texts of the same length.
func (t *table) four(a, b, c, d []byte) [4]uint8 {
	var i, j, k, l uint8
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for n, x := range a {
		i = t.rows[x][i]
		j = t.rows[b[n]][j]
		k = t.rows[c[n]][k]
		l = t.rows[d[n]][l]
	}
	return [4]uint8{i, j, k, l}
}

// cut cuts text behind the line around at.
func cut(text []byte, at int) (line, rest []byte) {
	at = lineEnd(text, at)
	return text[:at], text[at:]
}

// lineStart and lineEnd are where the line around i starts and where the next one
// does.
func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

func lineEnd(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}
