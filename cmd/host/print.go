package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/permissions"
)

// printJSON prints a document to standard output, with every character that
// does not show as itself escaped; indented where a person reads it.
func (a *app) printJSON(v any) error {
	indent := ""
	if a.out.Terminal {
		indent = strings.Repeat(" ", 2)
	}
	return printIndented(a.out, v, indent)
}

// printEach prints each of a list as a document.
func printEach[T any](a *app, list []T) error {
	for i := range list {
		if err := a.printJSON(list[i]); err != nil {
			return err
		}
	}
	return nil
}

// printIndented prints a document in one write; without an indent in one line.
func printIndented(out io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	if err == nil {
		_, err = out.Write(ui.JSON(b.Bytes()))
	}
	if err != nil {
		return hostError(fmt.Errorf("writing the output: %w", err))
	}
	return nil
}

// printText prints a result as text: as it is for other programs, escaped for
// people.
func (a *app) printText(r *abi.ToolResult) error {
	if r.IsError {
		a.err.Printf("%s\n", ui.Reason(r))
		return nil
	}
	var parts []string
	for _, b := range r.Content {
		switch b.Type {
		case abi.BlockText:
			parts = append(parts, b.Text)
		case abi.BlockToolReference:
			parts = append(parts, "[tool "+b.ToolName+"]")
		default:
			parts = append(parts, fmt.Sprintf("[%s, %s, %d bytes; --output json has them]", b.Type, b.MediaType, len(b.Data)))
		}
	}
	text := strings.Join(parts, "\n")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if a.out.Terminal {
		text = ui.Text(text)
	}
	if _, err := io.WriteString(a.out, text); err != nil {
		return hostError(fmt.Errorf("writing the output: %w", err))
	}
	return nil
}

func verdictStyle(v permissions.Verdict) ui.Style {
	switch v {
	case permissions.Allow:
		return ui.Green
	case permissions.Ask:
		return ui.Yellow
	}
	return ui.Red
}
