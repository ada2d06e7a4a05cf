// Command outline is a plugin with two tools. Outline lists the headings of a
// Markdown file with their line numbers, so that a model can read the part it
// needs instead of the whole. Contents writes them into the file.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

func init() { toolquay.Handle("Outline", outline) }

func main() {}

// Input is what plugin.toml's input_schema describes.
type Input struct {
	FilePath string `json:"file_path"`
	MaxLevel int    `json:"max_level,omitempty"`
}

// maxLine is the longest line that is looked at, in bytes. Markdown with longer
// ones is not written by people.
const maxLine = 1 << 20

// tellEvery is after how many bytes people are told how much is read.
const tellEvery = 1 << 20

// outline reads the file as a stream: of a 1 GiB file only the headings are
// ever held.
func outline(c *toolquay.Call, in Input) (toolquay.Output, error) {
	if in.MaxLevel == 0 {
		in.MaxLevel = 6
	}
	file, err := c.FS().Read(in.FilePath)
	if err != nil {
		return toolquay.Output{}, err
	}

	var p parser
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxLine)
	for read := 0; scanner.Scan(); {
		p.line(scanner.Text())
		before := read
		read += len(scanner.Bytes()) + 1
		if read/tellEvery > before/tellEvery {
			c.Progress("", float64(read), float64(file.OK.Size))
		}
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return toolquay.Output{}, toolquay.Errorf(toolquay.CodeTooLarge, "%s has a line of over %d bytes after line %d", in.FilePath, maxLine, p.number)
	} else if err != nil {
		return toolquay.Output{}, err
	}
	return toolquay.Text(render(p.headings, in.MaxLevel)), nil
}

func render(headings []Heading, maxLevel int) string {
	var b strings.Builder
	for _, h := range headings {
		if h.Level <= maxLevel {
			fmt.Fprintf(&b, "%6d\t%s%s\n", h.Line, strings.Repeat("  ", h.Level-1), h.Title)
		}
	}
	if b.Len() == 0 {
		return "No headings."
	}
	return strings.TrimSuffix(b.String(), "\n")
}
