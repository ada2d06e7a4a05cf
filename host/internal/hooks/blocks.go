package hooks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// block is a content block as hooks read and write it: as the field's model APIs
// do.
type block struct {
	Type     string  `json:"type"`
	Text     string  `json:"text,omitempty"`
	Title    string  `json:"title,omitempty"`
	ToolName string  `json:"tool_name,omitempty"`
	Source   *source `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// told is a block as hooks are told it.
type told struct {
	block
	// Whole is where all of a text lies that is too long to hold, of which Text is the
	// beginning.
	Whole *whole `json:"whole,omitempty"`
}

type whole struct {
	// Path is empty where the file could not be written: nobody will see the rest.
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// response is a result as hooks are told it.
type response struct {
	Content    []told          `json:"content"`
	IsError    bool            `json:"is_error"`
	Structured json.RawMessage `json:"structured,omitempty"`
}

func newResponse(r *abi.ToolResult) *response {
	if r == nil {
		return nil
	}
	out := response{Content: make([]told, len(r.Content)), IsError: r.IsError, Structured: r.Structured}
	for i, b := range r.Content {
		out.Content[i].block = block{Type: string(b.Type), Text: b.Text, Title: b.Title, ToolName: b.ToolName}
		if b.Spilled != nil {
			out.Content[i].Text, out.Content[i].Whole = b.Spilled.Head, &whole{b.Spilled.Path, b.Spilled.Bytes}
		}
		if b.Type == abi.BlockImage || b.Type == abi.BlockDocument {
			out.Content[i].Source = &source{
				Type: "base64", MediaType: b.MediaType, Data: base64.StdEncoding.EncodeToString(b.Data),
			}
		}
	}
	return &out
}

// parseBlocks reads an updatedOutput: a string, or a list of blocks.
func parseBlocks(canonical []byte) ([]abi.Block, error) {
	switch canonical[0] {
	case '"':
		var text string
		if err := json.Unmarshal(canonical, &text); err != nil {
			return nil, err
		}
		if text == "" {
			return []abi.Block{}, nil
		}
		return []abi.Block{abi.TextBlock(text)}, nil
	case '[':
	default:
		return nil, errors.New("updatedOutput is neither a string nor a list of content blocks")
	}
	var list []told // whole may stand there and counts for nothing: the hook's text does
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.DisallowUnknownFields() // what is left out of a block would be lost unseen
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("updatedOutput: %w", err)
	}
	out := make([]abi.Block, len(list))
	for i := range list {
		b, err := list[i].decode()
		if err != nil {
			return nil, fmt.Errorf("updatedOutput[%d]: %w", i, err)
		}
		out[i] = b
	}
	return out, nil
}

func (b *block) decode() (abi.Block, error) {
	out := abi.Block{Type: abi.BlockType(b.Type), Text: b.Text, Title: b.Title, ToolName: b.ToolName}
	if b.Source == nil {
		return out, nil // checkBlocks says where one is needed
	}
	if b.Source.Type != "base64" {
		return out, fmt.Errorf("a source of the type %.40q; write base64", b.Source.Type)
	}
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	out.MediaType, out.Data = b.Source.MediaType, data
	return out, err
}

// checkBlocks holds blocks to what a result may be made of.
func checkBlocks(blocks []abi.Block) error {
	if len(blocks) > abi.MaxBlocks {
		return fmt.Errorf("updatedOutput has %d blocks, over the limit of %d", len(blocks), abi.MaxBlocks)
	}
	for i := range blocks {
		if err := checkBlock(&blocks[i]); err != nil {
			return fmt.Errorf("updatedOutput[%d]: %w", i, err)
		}
	}
	return nil
}

func checkBlock(b *abi.Block) error {
	switch b.Type {
	case abi.BlockText:
		if !utf8.ValidString(b.Text) {
			return errors.New("text that is not UTF-8")
		}
		return nil
	case abi.BlockImage, abi.BlockDocument:
		if kind, sub, ok := strings.Cut(b.MediaType, "/"); !ok || kind == "" || sub == "" || len(b.Data) == 0 {
			return fmt.Errorf("%s without data of a media type such as image/png", b.Type)
		}
		return nil
	case abi.BlockToolReference:
		if b.ToolName == "" {
			return errors.New("a tool reference without a tool name")
		}
		return nil
	}
	return fmt.Errorf("a block of the unknown type %.40q", string(b.Type))
}
