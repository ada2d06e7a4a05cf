package results

import (
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// What blocks other than text count, in code points, at about four to the token.
const (
	// ImageChars is an image's share: model APIs scale images down and bill at most
	// about 1,600 tokens for one, whatever its file's size.
	ImageChars = 6_400
	// DocumentBytes is how many bytes of a document that is no text count as one: a
	// page of a PDF file has 50 to 100 KB and is billed at 1,500 to 3,000 tokens.
	DocumentBytes = 8
)

// Measure counts what a block takes of a model's context, in code points: the text
// of texts and of documents that are text, ImageChars for an image, and its size by
// DocumentBytes for every other document.
func Measure(b abi.Block) int {
	switch b.Type {
	case abi.BlockText:
		if b.Spilled != nil {
			return int(b.Spilled.Chars)
		}
		return utf8.RuneCountInString(b.Text)
	case abi.BlockImage:
		return ImageChars
	case abi.BlockDocument:
		if isTextDocument(b) {
			return utf8.RuneCount(b.Data)
		}
		return len(b.Data) / DocumentBytes
	}
	return len(b.ToolName)
}
