package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/permissions"
)

// stateless is the first revision without sessions: servers put questions into results.
const stateless = "2026-07-28"

// modeKey is where the _meta of a request, or of initialize, says which mode a client wishes for.
const modeKey = "toolquay/mode"

// identified is what the requests of the SDK tell of their client.
type identified interface {
	ProtocolVersion() string
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// clientOf is who makes a request.
func clientOf(req mcp.Request) Client {
	var c Client
	if r, ok := req.(identified); ok {
		c.Revision = r.ProtocolVersion()
		if info := r.ClientInfo(); info != nil {
			c.Name, c.Version = info.Name, info.Version
		}
	}
	c.Mode = modeOf(req)
	return c
}

// capabilitiesOf is what the client of a request says that it can do; nil if it does not.
func capabilitiesOf(req mcp.Request) *mcp.ClientCapabilities {
	r, ok := req.(identified)
	if !ok {
		return nil
	}
	return r.ClientCapabilities()
}

// modeOf is the mode that a request, or the client when it initialized, wishes for.
func modeOf(req mcp.Request) permissions.Mode {
	var metas []map[string]any
	switch r := req.(type) { // a request without params has none that are not nil
	case *mcp.CallToolRequest:
		metas = append(metas, r.Params.GetMeta())
	case *mcp.ListToolsRequest:
		if r.Params != nil {
			metas = append(metas, r.Params.GetMeta())
		}
	}
	ss, ok := req.GetSession().(*mcp.ServerSession)
	if ok && ss.InitializeParams() != nil {
		metas = append(metas, ss.InitializeParams().Meta)
	}
	for _, meta := range metas {
		if mode, ok := meta[modeKey].(string); ok {
			return permissions.Mode(mode)
		}
	}
	return ""
}

// rootsTime is how long a client may take to say which roots it has.
const rootsTime = 5 * time.Second

// rootsOf asks the client for its roots, where it has some and the revision lets a server ask.
// Those that are no directories of a file system are left out. The error is that of a client
// which does not say.
func rootsOf(ctx context.Context, req mcp.Request) ([]string, error) {
	ss, ok := req.GetSession().(*mcp.ServerSession)
	r, known := req.(identified)
	if !ok || !known || r.ProtocolVersion() >= stateless {
		return nil, nil
	}
	if c := capabilitiesOf(req); c == nil || c.RootsV2 == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	list, err := ss.ListRoots(ctx, nil)
	if err != nil {
		return nil, err
	}
	return directories(list.Roots), nil
}

// maxRoots is how many roots of a client are looked at.
const maxRoots = 100

// directories are the paths of roots.
func directories(roots []*mcp.Root) []string {
	var out []string
	for _, r := range roots[:min(len(roots), maxRoots)] {
		u, err := url.Parse(r.URI)
		if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
			continue
		}
		path := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(path) && len(path) > 1 { // /C:/x
			path = path[1:]
		}
		if filepath.IsAbs(path) && !slices.Contains(out, filepath.Clean(path)) {
			out = append(out, filepath.Clean(path))
		}
	}
	return out
}
