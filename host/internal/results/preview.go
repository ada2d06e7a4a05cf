package results

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// PreviewBytes is what of a text a preview shows at most, in bytes.
const PreviewBytes = 2_000

// preview is what stands in a result for a text that lies in a file. It shows at
// most limit bytes of it.
func preview(t *text, path string, strategy Strategy, limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<persisted-output>\nThe result is too long to show here: %s characters in %s (%s). All of it is in this file, which can be searched and read in parts:\n%s\n\n",
		thousands(t.chars), t.lineCount(), size(t.bytes), path)
	b.WriteString(excerpt(t, strategy, limit))
	b.WriteString("\n" + closing + ">")
	return b.String()
}

// lineCount counts a last line without an LF too.
func (t *text) lineCount() string {
	n := t.lines
	if last := len(t.blocks) - 1; last >= 0 && !endsLine(t.blocks[last]) {
		n++
	}
	if n == 1 {
		return "one line"
	}
	return thousands(n) + " lines"
}

// excerpt shows what the strategy says of a text, at most limit bytes of it, under
// a word about what is shown. It ends without an LF.
func excerpt(t *text, strategy Strategy, limit int) string {
	head := func(n int) string { return beginning(escape(t.head(n+longestClosing)), n) }
	tail := func(n int) string { return ending(escape(t.tail(n+longestClosing)), n) }
	switch strategy {
	case StrategyEnd:
		return "Its end:\n" + withoutNewline(tail(limit))
	case StrategyBoth:
		if t.bytes > int64(limit) {
			return "Its beginning:\n" + withoutNewline(head(limit/2)) + "\n\nIts end:\n" + withoutNewline(tail(limit/2))
		}
	}
	return "Its beginning:\n" + withoutNewline(head(limit))
}

// closing is how what ends a preview begins.
const closing = "</persisted-output"

// closings are what a reader could take for closing.
var closings = regexp.MustCompile(`(?i)</(persisted-output)`)

// longestClosing is how long those are at most: two "s" may be "ſ", of two bytes.
const longestClosing = len(closing) + 2

// escape keeps a text from ending the preview it stands in.
func escape(text string) string { return closings.ReplaceAllString(text, `<\/$1`) }

// beginning is at most the first n bytes of a text: up to the last line that ends
// in their second half, else up to the last whole character.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := firstBytes(text, n)
	if nl := strings.LastIndexByte(cut, '\n'); nl >= 0 && nl >= len(cut)/2 {
		return cut[:nl+1]
	}
	return cut
}

// ending is the same mirrored: the last n bytes, from the first line on that begins
// in their first half.
func ending(text string, n int) string {
	if len(text) <= n {
		return text
	}
	cut := lastBytes(text, n)
	if nl := strings.IndexByte(cut, '\n'); nl >= 0 && nl < (len(cut)+1)/2 {
		return cut[nl+1:]
	}
	return cut
}

func withoutNewline(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return strings.TrimSuffix(text, "\r")
}

// thousands writes a number for reading.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// size writes a number of bytes for reading.
func size(bytes int64) string {
	units := []string{"KiB", "MiB", "GiB"}
	if bytes < 1<<10 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	n := float64(bytes) / (1 << 10)
	for n >= 1<<10 && len(units) > 1 {
		n, units = n/(1<<10), units[1:]
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " " + units[0]
}
