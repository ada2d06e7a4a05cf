package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

func init() { toolquay.Handle("Contents", contents) }

// The lines between which Contents writes.
const (
	begin = "<!-- contents -->\n"
	end   = "<!-- /contents -->\n"
)

// contents writes the table of contents of a file into it. The tool has read the file
// itself, in this call, and says so by the hash of what it read: the host writes where the
// rules allow it and the file still is that.
func contents(c *toolquay.Call, in struct {
	FilePath string `json:"file_path"`
}) (toolquay.Output, error) {
	read, err := c.FS().ReadFile(in.FilePath)
	if err != nil {
		return toolquay.Output{}, err
	}
	text, ok := withContents(string(read))
	if !ok {
		return toolquay.Output{}, toolquay.Errorf(toolquay.CodeNoMatch, "%s has no lines %s and %s", in.FilePath, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	sum := sha256.Sum256(read)
	answer, err := c.FS().StartWrite(toolquay.WriteArgs{Path: in.FilePath, Expect: hex.EncodeToString(sum[:])}, []byte(text)).Wait()
	if err != nil {
		return toolquay.Output{}, err
	}
	if answer.OK.Unchanged {
		return toolquay.Text("The list is up to date."), nil
	}
	return toolquay.Output{}.TextFrom(answer), nil // the diff
}

// withContents replaces what is between the two lines by the headings behind them.
func withContents(text string) (string, bool) {
	before, rest, opened := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	var p parser
	for line := range strings.SplitSeq(after, "\n") {
		p.line(line)
	}
	var list strings.Builder
	for _, h := range p.headings {
		fmt.Fprintf(&list, "%s- %s\n", strings.Repeat("  ", h.Level-1), h.Title)
	}
	return before + begin + list.String() + end + after, opened && closed
}
