package extism

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// inputOf is what an export gets: the input, or the field that its tool's manifest
// names, a string as it is.
func inputOf(inv plugins.Invocation) ([]byte, error) {
	name := inv.Tool.Input
	if name == "" {
		return inv.Input, nil
	}
	var fields map[string]json.RawMessage
	if err := abi.Unmarshal(inv.Input, &fields); err != nil {
		return nil, err
	}
	value := fields[name]
	if len(value) == 0 || value[0] != '"' {
		return value, nil
	}
	var text string
	err := json.Unmarshal(value, &text)
	return []byte(text), err
}

// outcome is how an export ended by itself. Its bytes are views of the kernel's
// memory.
type outcome struct {
	code   int32
	output []byte
	// failure is the error that the guest set, empty for none.
	failure []byte
}

// result makes the call's result of what the export returned.
func (o outcome) result(inv plugins.Invocation, limit int64) (abi.ToolResult, error) {
	if n := max(len(o.output), len(o.failure)); int64(n) > limit {
		return abi.ToolResult{}, abi.Errorf(abi.CodeLimit, "it answered %d bytes, over its limit output = %s", n, abi.Size(limit))
	}
	if !utf8.Valid(o.output) || !utf8.Valid(o.failure) {
		return abi.ToolResult{}, abi.Errorf(abi.CodeProtocol, "the export %s answered bytes that are not UTF-8; the output of an Extism tool must be text", exportOf(inv.Tool))
	}
	r := abi.ToolResult{ToolUseID: inv.ID}
	switch {
	case len(o.failure) > 0:
		r.IsError = true
		r.Content = []abi.Block{abi.TextBlock(string(o.failure))}
		return r, nil
	case o.code != 0:
		r.IsError = true
		r.Content = []abi.Block{abi.TextBlock(fmt.Sprintf("The tool failed with code %d and no message.", o.code))}
		if len(o.output) > 0 {
			r.Content = append(r.Content, abi.TextBlock(string(o.output)))
		}
		return r, nil
	}
	err := o.answer(inv.Tool, &r)
	return r, err
}

// answer reads the output of an export that did well, as its tool's manifest says.
func (o outcome) answer(tool *abi.Tool, r *abi.ToolResult) error {
	why := fmt.Sprintf("output = %q in its manifest", tool.Output)
	if tool.Output == "" {
		why = "an output schema"
	}
	switch {
	case tool.Output == abi.OutputMCP:
		if err := readMCP(o.output, r); err != nil {
			return abi.Errorf(abi.CodeProtocol, "the tool %s has %s, but its output is no CallToolResult: %w", tool.Name, why, err)
		}
		return nil
	case tool.Output == abi.OutputJSON || tool.OutputSchema != "":
		structured, err := abi.Canonical(o.output)
		if err != nil {
			return abi.Errorf(abi.CodeProtocol, "the tool %s has %s, but its output is not JSON: %w", tool.Name, why, err)
		}
		r.Structured = structured
	}
	r.Content = []abi.Block{abi.TextBlock(string(o.output))}
	return nil
}

// mcpResult is a CallToolResult of the Model Context Protocol.
type mcpResult struct {
	Content    []mcpBlock      `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Meta       json.RawMessage `json:"_meta"`
}

// mcpBlock is a content block of it, of any type.
type mcpBlock struct {
	Type        string      `json:"type"`
	Text        string      `json:"text"`
	Data        []byte      `json:"data"` // base64
	MediaType   string      `json:"mimeType"`
	Resource    mcpResource `json:"resource"`
	URI         string      `json:"uri"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
}

// mcpResource is an embedded resource: text, or a blob in base64.
type mcpResource struct {
	URI       string  `json:"uri"`
	MediaType string  `json:"mimeType"`
	Text      *string `json:"text"`
	Blob      []byte  `json:"blob"`
}

// readMCP puts a CallToolResult into a result.
func readMCP(output []byte, r *abi.ToolResult) error {
	var m mcpResult
	if err := abi.Unmarshal(output, &m); err != nil {
		return err
	}
	if string(m.Structured) == "null" {
		m.Structured = nil
	}
	if m.Content == nil && m.Structured == nil {
		return errors.New("it has neither content nor structuredContent")
	}
	if len(m.Content) > abi.MaxBlocks {
		return fmt.Errorf("it has %d content blocks, over the limit of %d", len(m.Content), abi.MaxBlocks)
	}
	for i := range m.Content {
		block, err := m.Content[i].block()
		if err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
		r.Content = append(r.Content, block)
	}
	r.IsError = m.IsError
	if string(m.Meta) != "null" {
		r.Meta = m.Meta
	}
	if m.Structured == nil {
		return nil
	}
	var err error
	if r.Structured, err = abi.Canonical(m.Structured); err == nil && len(r.Content) == 0 {
		r.Content = []abi.Block{abi.TextBlock(string(m.Structured))}
	}
	return err
}

func (b *mcpBlock) block() (abi.Block, error) {
	switch b.Type {
	case "text":
		return abi.TextBlock(b.Text), nil
	case "image":
		return mediaBlock(b.MediaType, b.Data)
	case "resource_link":
		return abi.TextBlock(strings.TrimSuffix(fmt.Sprintf("%s: %s\n%s", b.Name, b.URI, b.Description), "\n")), nil
	case "resource":
		if b.Resource.Text != nil {
			return abi.TextBlock(*b.Resource.Text), nil
		}
		block, err := mediaBlock(b.Resource.MediaType, b.Resource.Blob)
		if block.Type == abi.BlockDocument {
			block.Title = b.Resource.URI
		}
		return block, err
	}
	return abi.Block{}, fmt.Errorf("the type %q is none of text, image, resource and resource_link", b.Type)
}

// mediaBlock is an image, or else a document.
func mediaBlock(mediaType string, data []byte) (abi.Block, error) {
	if mediaType == "" || len(data) == 0 {
		return abi.Block{}, errors.New("the mimeType or the data is missing")
	}
	kind := abi.BlockDocument
	if strings.HasPrefix(mediaType, "image/") {
		kind = abi.BlockImage
	}
	return abi.Block{Type: kind, MediaType: mediaType, Data: data}, nil
}
