// Command backup is a guest for tests: it says what its call touches, and reports
// how far it is. Its tool Break breaks in the ways that a Go program can.
package main

import (
	"fmt"
	"os"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

func init() {
	toolquay.Register(toolquay.Tool{Name: "Backup", Run: backup, Assess: assess})
	toolquay.Handle("Break", breaks)
}

func breaks(_ *toolquay.Call, in input) (toolquay.Output, error) {
	fmt.Println("on standard output")
	fmt.Fprintln(os.Stderr, "on standard error")
	switch in.Path {
	case "panic":
		rowsOf(nil)
	case "goroutine":
		done := make(chan struct{})
		go rowsOf(nil)
		<-done
	case "exit":
		os.Exit(3)
	}
	return toolquay.Output{}, fmt.Errorf("there is no %s", in.Path)
}

//go:noinline
func rowsOf(table []string) string { return table[5] }

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
