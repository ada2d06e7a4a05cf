// Command backup is a guest for tests: it says what its call touches, and reports
// how far it is.
package main

import (
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

func init() {
	toolquay.Register(toolquay.Tool{Name: "Backup", Run: backup, Assess: assess})
}

func main() {}

type input struct {
	Path string `json:"path"`
}

func assess(q *toolquay.Question) (toolquay.Assessment, error) {
	var in input
	if err := q.Decode(&in); err != nil {
		return toolquay.Assessment{}, err
	}
	return toolquay.Assessment{Touches: []toolquay.Touch{{Path: in.Path}, {Path: in.Path + ".bak", Write: true}}}, nil
}

func backup(c *toolquay.Call) (toolquay.Output, error) {
	var in input
	if err := c.Decode(&in); err != nil {
		return toolquay.Output{}, err
	}
	c.Progress("reading "+in.Path, 1, 2)
	c.Report(toolquay.Progress{Output: "lost" + strings.Repeat("\x1b", 64<<10)})
	c.Report(toolquay.Progress{Message: strings.Repeat("ä", 100_000), Output: "\xff\n", Done: 2, Total: 2})
	return toolquay.Text("backed up"), nil
}
