package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// DefaultMaxResult is the size of a result, in code points, that a tool has
// without asking, and the most it can ask for.
const DefaultMaxResult = 50_000

// fit holds a result to its tool's limit: what is over is cut at the end of a
// line and the model is told. Results that are empty say so.
func fit(r *abi.ToolResult, t tool) {
	contract := t.contract()
	r.Content = withoutEmpty(r.Content)
	if len(r.Content) == 0 {
		r.Content = []abi.Block{abi.TextBlock(fmt.Sprintf("(%s completed with no output)", contract.Name))}
		return
	}
	// A plugin's word is not enough to be unlimited: what is built in bounds
	// itself.
	if contract.Unlimited && t.source().trusted {
		return
	}
	limit := DefaultMaxResult
	if contract.MaxResultChars > 0 {
		limit = min(limit, contract.MaxResultChars)
	}
	cutText(r, limit)
}

// withoutEmpty leaves out text blocks without text, which model APIs refuse. It
// leaves the list it is given as it is: the tool may hold on to it.
func withoutEmpty(blocks []abi.Block) []abi.Block {
	empty := func(b abi.Block) bool { return b.Type == abi.BlockText && b.Text == "" }
	if !slices.ContainsFunc(blocks, empty) {
		return blocks
	}
	return slices.DeleteFunc(slices.Clone(blocks), empty)
}

// cutText cuts the text blocks of a result after limit code points in all.
func cutText(r *abi.ToolResult, limit int) {
	total, size := 0, 0
	for _, b := range r.Content {
		if b.Type == abi.BlockText {
			size += len(b.Text)
		}
	}
	if size <= limit {
		return // no text has more code points than bytes
	}
	for _, b := range r.Content {
		if b.Type == abi.BlockText {
			total += utf8.RuneCountInString(b.Text)
		}
	}
	if total <= limit {
		return
	}
	left := limit
	var kept []abi.Block // a new list: the tool may hold on to its own
	for _, b := range r.Content {
		if b.Type == abi.BlockText {
			n := utf8.RuneCountInString(b.Text)
			if n > left {
				b.Text = head(b.Text, left)
			}
			left = max(left-n, 0)
			if b.Text == "" {
				continue
			}
		}
		kept = append(kept, b)
	}
	kept = append(kept, abi.TextBlock(fmt.Sprintf(
		"(the result was cut: it has %d characters, over this tool's limit of %d; ask for less at a time)", total, limit)))
	r.Content = kept
}

// head is the first n code points of a text, up to the last line that ends in
// their second half.
func head(text string, n int) string {
	at := len(text)
	for i := range text {
		if n == 0 {
			at = i
			break
		}
		n--
	}
	cut := text[:at]
	if nl := strings.LastIndexByte(cut, '\n'); nl >= len(cut)/2 {
		cut = cut[:nl+1]
	}
	return cut
}

// encodeJSON encodes without escaping for HTML, which models read badly.
func encodeJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
