package mcp

import (
	"context"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
)

// scheme is that of the resources that the server has.
const scheme = "toolquay://"

// storedResults are the results of a session that were too long for a model, as resources. The
// session's own tools read them by their paths, but a client may want to show one to a person.
type storedResults struct {
	session *clientSession

	mu     sync.Mutex
	byCall map[string]stored
	order  []string // of the calls, the oldest first
}

type stored struct {
	uri, path string
	size      int64
}

const (
	// maxStored is how many results are listed; the oldest make way.
	maxStored = 200
	// maxRead is how much of one is read at once: a resource has no parts.
	maxRead = 16 << 20
)

// add offers the whole of a call's result.
func (s *storedResults) add(call string, file *host.StoredResult) {
	if file == nil {
		return
	}
	name := filepath.Base(file.Path)
	r := stored{uri: scheme + "result/" + name, path: file.Path, size: file.Bytes}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byCall == nil {
		s.byCall = make(map[string]stored)
	}
	if _, again := s.byCall[call]; !again {
		s.order = append(s.order, call)
	}
	s.byCall[call] = r
	s.session.sdk.AddResource(&mcp.Resource{
		URI: r.uri, Name: name, Title: "The whole result of a call", MIMEType: mediaType(name), Size: r.size,
	}, r.read)
	if len(s.order) > maxStored {
		s.drop(s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
}

// drop offers the result of a call no more. The caller holds the mutex.
func (s *storedResults) drop(call string) {
	s.session.sdk.RemoveResources(s.byCall[call].uri)
	delete(s.byCall, call)
}

// forget offers none any more.
func (s *storedResults) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.order {
		s.drop(call)
	}
	s.order = nil
}

// link refers to the whole of a call's result, or is nil.
func (s *storedResults) link(call string) mcp.Content {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byCall[call]
	if !ok {
		return nil
	}
	name := filepath.Base(r.path)
	return &mcp.ResourceLink{URI: r.uri, Name: name, Title: "The whole result", MIMEType: mediaType(name), Size: &r.size}
}

func (r stored) read(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if r.size > maxRead {
		return nil, fmt.Errorf("%s has %d bytes, and %d can be read at once: read %s in parts by a tool", r.uri, r.size, maxRead, r.path)
	}
	f, err := os.Open(r.path)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.uri)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.uri, err)
	}
	contents := &mcp.ResourceContents{URI: r.uri, MIMEType: mediaType(r.path)}
	if utf8.Valid(data) {
		contents.Text = string(data)
	} else {
		contents.Blob = data
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

func mediaType(name string) string {
	if t := mime.TypeByExtension(filepath.Ext(name)); t != "" && filepath.Ext(name) != ".txt" {
		return t
	}
	return "text/plain"
}
