package mcp

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
)

// resultOf is a result as a client gets it. Of a text that was too long for the model, where
// the whole of it can be read follows.
func resultOf(r *abi.ToolResult, stored *storedResults) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{}}
	for i := range r.Content {
		out.Content = append(out.Content, contentOf(&r.Content[i]))
	}
	for _, m := range r.Messages {
		out.Content = append(out.Content, &mcp.TextContent{Text: m.Text})
	}
	if link := stored.link(r.ToolUseID); link != nil {
		out.Content = append(out.Content, link)
	}
	if r.Structured != nil {
		out.StructuredContent = withText(r.Structured, r.Content)
	}
	out.Meta = metaOf(r)
	return out
}

// metaOf is what a program may want to know of a result: the code of its error, and what its
// tool added.
func metaOf(r *abi.ToolResult) mcp.Meta {
	meta := mcp.Meta{}
	if r.IsError && r.Error != nil {
		meta["toolquay/code"] = r.Error.Code
	}
	if r.Meta != nil {
		meta["toolquay/meta"] = r.Meta
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}

// contentOf is a content block as a client gets it.
func contentOf(b *abi.Block) mcp.Content {
	switch b.Type {
	case abi.BlockImage:
		return &mcp.ImageContent{Data: b.Data, MIMEType: b.MediaType}
	case abi.BlockDocument:
		return documentOf(b)
	}
	return &mcp.TextContent{Text: b.Text}
}

// documentOf is a document as a client gets it: sound, or a resource that lies in the result.
func documentOf(b *abi.Block) mcp.Content {
	if strings.HasPrefix(b.MediaType, "audio/") {
		return &mcp.AudioContent{Data: b.Data, MIMEType: b.MediaType}
	}
	contents := &mcp.ResourceContents{URI: scheme + "document/" + url.PathEscape(b.Title), MIMEType: b.MediaType}
	if strings.HasPrefix(b.MediaType, "text/") && utf8.Valid(b.Data) {
		contents.Text = string(b.Data)
	} else {
		contents.Blob = b.Data
	}
	return &mcp.EmbeddedResource{Resource: contents}
}
