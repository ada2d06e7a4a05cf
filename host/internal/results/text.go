package results

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// text is all text of a result: that of its text blocks and of documents that are
// text, each on lines of its own.
type text struct {
	blocks []abi.Block
	// Chars and Bytes are its size, and lines the number of LFs.
	chars, bytes, lines int64
}

// textOf finds the text of a result.
func textOf(content []abi.Block) text {
	var t text
	for _, b := range content {
		if !isText(b) {
			continue
		}
		if isTextDocument(b) {
			b = abi.TextBlock(string(b.Data))
		}
		if len(t.blocks) > 0 && !endsLine(t.blocks[len(t.blocks)-1]) {
			t.add(abi.TextBlock("\n"))
		}
		t.add(b)
	}
	return t
}

// isText reports whether a block's content is text. How a tool wraps it is no way
// around a limit.
func isText(b abi.Block) bool { return b.Type == abi.BlockText || isTextDocument(b) }

func isTextDocument(b abi.Block) bool {
	return b.Type == abi.BlockDocument && strings.HasPrefix(b.MediaType, "text/")
}

func (t *text) add(b abi.Block) {
	t.blocks = append(t.blocks, b)
	if s := b.Spilled; s != nil {
		t.chars, t.bytes, t.lines = t.chars+s.Chars, t.bytes+s.Bytes, t.lines+s.Lines
		return
	}
	t.chars += int64(utf8.RuneCountInString(b.Text))
	t.bytes += int64(len(b.Text))
	t.lines += int64(strings.Count(b.Text, "\n"))
}

func endsLine(b abi.Block) bool {
	_, tail := ends(b)
	return strings.HasSuffix(tail, "\n")
}

// ends are the beginning and the end of a block's text, each all of it where that is
// held in memory.
func ends(b abi.Block) (head, tail string) {
	if s := b.Spilled; s != nil {
		return s.Head, s.Tail
	}
	return b.Text, b.Text
}

// head is at least the first n bytes of the text, or all of it; what is no UTF-8 is
// U+FFFD.
func (t *text) head(n int) string {
	var out strings.Builder
	for _, b := range t.blocks {
		head, _ := ends(b)
		out.WriteString(validUTF8(head[:min(len(head), n+utf8.UTFMax)]))
		if out.Len() >= n || b.Spilled != nil && int64(len(b.Spilled.Head)) < b.Spilled.Bytes {
			break
		}
	}
	return out.String()
}

// tail is the same at the end.
func (t *text) tail(n int) string {
	var parts []string
	size := 0
	for _, b := range slices.Backward(t.blocks) {
		_, tail := ends(b)
		part := validUTF8(tail[max(0, len(tail)-n-utf8.UTFMax):])
		parts = append(parts, part)
		if size += len(part); size >= n || b.Spilled != nil && int64(len(b.Spilled.Tail)) < b.Spilled.Bytes {
			break
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// WriteTo writes the text as it is, reading what is spilled piece by piece.
func (t *text) WriteTo(w io.Writer) (int64, error) {
	var written int64
	for _, b := range t.blocks {
		n, err := copyBlock(w, b)
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

func copyBlock(w io.Writer, b abi.Block) (int64, error) {
	if b.Spilled == nil {
		n, err := io.WriteString(w, b.Text)
		return int64(n), err
	}
	if b.Spilled.Path == "" {
		return 0, errLost
	}
	f, err := os.Open(b.Spilled.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(w, f)
}

// spilled are the files that the text lies in.
func spilled(content []abi.Block) []string {
	var paths []string
	for _, b := range content {
		if b.Spilled != nil {
			paths = append(paths, b.Spilled.Path)
		}
	}
	return paths
}

// withText is a result's content with another text in the place of its own. It is
// a new list: the tool may hold on to the one it gave.
func withText(content []abi.Block, text string) []abi.Block {
	out := make([]abi.Block, 0, len(content)+1)
	put := false
	for _, b := range content {
		if !isText(b) {
			out = append(out, b)
		} else if !put {
			out, put = append(out, abi.TextBlock(text)), true
		}
	}
	return out
}

// validUTF8 has U+FFFD for each byte that is no UTF-8.
func validUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// firstBytes is at most n bytes of whole code points.
func firstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// lastBytes is the same from the end.
func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	at := len(text) - n
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

// errLost is that of a text whose file could not be written.
var errLost = errors.New("its file could not be written")
