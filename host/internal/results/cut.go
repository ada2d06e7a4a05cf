package results

import (
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// cut cuts the text of a result to limit code points in all, at the end of a line
// where it can, and says so: there is no place to keep the rest. Half of a limit is
// for the text, however little that is.
func cut(content []abi.Block, limit int, why string) []abi.Block {
	whole := textOf(content)
	note := fmt.Sprintf("(the result was cut: it has %d characters, over %s; ask for less at a time)", whole.chars, why)
	left := max(limit-utf8.RuneCountInString(note), limit/2)
	kept := make([]abi.Block, 0, len(content)+1) // a new list: the tool may hold on to its own
	for _, b := range content {
		if !isText(b) {
			kept = append(kept, b)
			continue
		}
		if isTextDocument(b) {
			b = abi.TextBlock(string(b.Data))
		}
		head, _ := ends(b)
		chars := int64(Measure(b))
		if chars > int64(left) {
			head = firstChars(validUTF8(head), left)
		}
		left = max(0, left-int(min(chars, int64(left))))
		if head != "" {
			kept = append(kept, abi.TextBlock(head))
		}
	}
	return append(kept, abi.TextBlock(note))
}

// firstChars is the first n code points of a text, up to the last line that ends in
// their second half.
func firstChars(text string, n int) string {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return beginning(text, at)
}
