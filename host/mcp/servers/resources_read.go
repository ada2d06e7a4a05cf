package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// maxImage is the largest image that is shown, in bytes; larger ones are kept as files, as
	// model APIs refuse them.
	maxImage = 5 << 20
	// maxContents is how many parts of one resource are shown.
	maxContents = 100
	// hintTime is how long a server may take to say what URIs there are instead.
	hintTime = 5 * time.Second
	// codeNotFound is the error of older servers for a resource that there is not; newer ones
	// have [jsonrpc.CodeInvalidParams].
	codeNotFound = -32002
)

// readInput is the input of ReadMcpResource.
type readInput struct{ Server, URI string }

// readAnswer is what it answers, and readContent one part of the resource.
type readAnswer struct {
	Contents []readContent `json:"contents"`
}

type readContent struct {
	URI         string `json:"uri"`
	MIMEType    string `json:"mimeType,omitempty"`
	Text        string `json:"text,omitempty"`
	BlobSavedTo string `json:"blobSavedTo,omitempty"`
}

// readTool is the tool ReadMcpResource. It is as much the server's as the host's: rules on either
// bind it.
func (s *Set) readTool() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "ReadMcpResource", Summary: "Read a resource of an MCP server",
			Description: `Reads one resource of an MCP server by its URI: one that ListMcpResources lists, or one made of a template.

Texts and images are shown. Anything else is saved to a file, whose path the result tells.`,
			InputSchema: `{"type":"object","additionalProperties":false,"required":["server","uri"],"properties":{
				"server":{"type":"string","minLength":1,"description":"The name of the server"},
				"uri":{"type":"string","minLength":1,"maxLength":2048,"description":"The URI of the resource"}}}`,
			OutputSchema: `{"type":"object","required":["contents"],"properties":{"contents":{"type":"array","items":{"type":"object","required":["uri"],"properties":{
				"uri":{"type":"string"},"mimeType":{"type":"string"},"text":{"type":"string"},
				"blobSavedTo":{"type":"string","description":"The file that holds what is neither text nor an image"}}}}}}`,
			ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue, Validates: true, Defer: true,
			SearchHint: "mcp server resource read uri document record", Activity: "read", Title: "uri",
			Lines:          abi.Lines{Use: "{uri} of {server}", Result: "{result.contents|part}[, saved to {result.contents.0.blobSavedTo}]", Rejection: "not read: {error}"},
			ClassifierText: "{uri} of the server {server}",
		},
		Server: func(input json.RawMessage) host.ToolServer {
			var in readInput
			_ = json.Unmarshal(input, &in) // what has no server is of none
			return host.ToolServer{Name: in.Server}
		},
		Assess: func(_ context.Context, input json.RawMessage, _ []abi.Fact) (abi.Assessment, error) {
			var in readInput
			if err := json.Unmarshal(input, &in); err != nil {
				return abi.Assessment{}, err
			}
			if _, err := s.find(in.Server); err != nil { // before a person is asked
				return abi.Assessment{Invalid: &abi.Invalid{Message: err.Error()}}, nil //nolint:nilerr // it is the answer
			}
			return abi.Assessment{}, nil
		},
		Run: s.readResource,
	}
}

// readResource reads a resource.
func (s *Set) readResource(ctx context.Context, hc *host.Call) (abi.ToolResult, error) {
	var in readInput
	if err := json.Unmarshal(hc.Input, &in); err != nil {
		return abi.ToolResult{}, abi.Errorf(abi.CodeInvalidInput, "the input of ReadMcpResource: %w", err)
	}
	one, err := s.find(in.Server)
	if err != nil {
		return abi.ToolResult{}, err
	}
	r, err := twice(func() (*mcp.ReadResourceResult, error) { return one.read(ctx, hc, in.URI) })
	if err != nil {
		return abi.ToolResult{}, one.hinted(ctx, hc, in.URI, err)
	}
	return readResult(hc, in.URI, r), nil
}

// read asks the server for a resource.
func (s *server) read(ctx context.Context, hc *host.Call, uri string) (*mcp.ReadResourceResult, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	ctx, of := s.begin(ctx, hc, s.config.callTimeout(), "call_timeout")
	defer of.limit.stop()
	return request(ctx, c, of, func(ctx context.Context, token string) (r *mcp.ReadResourceResult, err error) {
		err = c.rounds(of, func(given mcp.InputResponseMap, state string) (mcp.InputRequestMap, string, error) {
			params := &mcp.ReadResourceParams{URI: uri, InputResponses: given, RequestState: state}
			params.SetProgressToken(token)
			if r, err = c.session.ReadResource(ctx, params); err != nil {
				return nil, "", err
			}
			return r.InputRequests, r.RequestState, nil
		})
		return r, err
	})
}

// hinted adds to an error what URIs there are, if the one that was asked for may be wrong.
func (s *server) hinted(ctx context.Context, hc *host.Call, uri string, err error) error {
	answer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || answer.Code != codeNotFound && answer.Code != jsonrpc.CodeInvalidParams {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hintTime)
	defer cancel()
	hint := ""
	if inv, failure := s.inventory(ctx, hc); failure == nil {
		var uris []string
		for _, r := range inv.resources {
			uris = append(uris, r.URI)
		}
		hint = visible.Line(stricttoml.DidYouMean(uri, uris))
	}
	return abi.Errorf(abi.CodeNotFound, "%w%s; ListMcpResources lists what the MCP server %s has", err, hint, s.config.Name)
}

// readResult is what was read, as the model gets it.
func readResult(hc *host.Call, uri string, r *mcp.ReadResourceResult) abi.ToolResult {
	var out abi.ToolResult
	answer := readAnswer{Contents: []readContent{}}
	for i, content := range r.Contents {
		if content == nil {
			continue
		}
		if i == maxContents {
			out.Content = append(out.Content, abi.TextBlock(fmt.Sprintf("[%d further parts of the resource were left out]", len(r.Contents)-i)))
			break
		}
		part := readContent{URI: visible.Short(cmp.Or(content.URI, uri), maxURI), MIMEType: said(content.MIMEType)}
		if len(r.Contents) > 1 {
			out.Content = append(out.Content, abi.TextBlock("["+part.URI+"]"))
		}
		out.Content = append(out.Content, part.block(hc, content))
		answer.Contents = append(answer.Contents, part)
	}
	if len(out.Content) == 0 {
		out.Content = []abi.Block{abi.TextBlock("The resource has no content.")}
	}
	out.Structured = answer.structured()
	return out
}

// structured is it as JSON, without texts if that is too long.
func (a *readAnswer) structured() json.RawMessage {
	text, _ := json.Marshal(a) // plain data: it cannot fail
	if len(text) <= maxStructured {
		return text
	}
	for i := range a.Contents {
		a.Contents[i].Text = ""
	}
	text, _ = json.Marshal(a)
	return text
}

// block is a part of a resource as a block. What models cannot take goes into a file.
func (p *readContent) block(hc *host.Call, content *mcp.ResourceContents) abi.Block {
	switch {
	case content.Blob == nil:
		p.Text = content.Text
		return abi.TextBlock(content.Text)
	case isImage(content.MIMEType) && len(content.Blob) <= maxImage:
		return abi.Block{Type: abi.BlockImage, MediaType: content.MIMEType, Data: content.Blob}
	}
	about := fmt.Sprintf("%s, of the type %s and %d bytes", p.URI, cmp.Or(p.MIMEType, "unknown"), len(content.Blob))
	saved, err := hc.Keep(fileName(p.URI, content.MIMEType), content.Blob)
	if err != nil {
		return abi.TextBlock(fmt.Sprintf("[%s, cannot be shown, and was not saved: %s]", about, err.Error()))
	}
	p.BlobSavedTo = saved
	return abi.TextBlock(fmt.Sprintf("[%s, was saved to %s]", about, saved))
}

// extensions are those of media types that readers of files go by.
var extensions = map[string]string{
	"application/gzip": ".gz", "application/json": ".json", "application/pdf": ".pdf", "application/zip": ".zip",
	"application/x-ipynb+json": ".ipynb", "application/x-tar": ".tar", "application/xml": ".xml",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png",
	"image/svg+xml": ".svg", "image/webp": ".webp", "text/csv": ".csv", "text/html": ".html", "text/markdown": ".md",
	"text/plain": ".txt", "video/mp4": ".mp4",
}

// fileName is the name of a file for a resource: the last part of the URI's path, with the
// extension of its media type.
func fileName(uri, mediaType string) string {
	last := uri
	if u, err := url.Parse(uri); err == nil {
		last = cmp.Or(u.Path, u.Opaque, u.Host)
	}
	last = path.Base(last)
	ext := path.Ext(last)
	kind, _, _ := strings.Cut(mediaType, ";")
	known := extensions[strings.ToLower(strings.TrimSpace(kind))]
	return strings.TrimSuffix(last, ext) + cmp.Or(known, ext, ".bin")
}
