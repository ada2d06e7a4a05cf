package servers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/permissions"
)

// The bounds of what is taken from a server's lists of resources.
const (
	maxResources = 500  // and as many templates
	maxURI       = 2048 // bytes; longer ones are left out
	// maxStructured is how long structured content is with texts and descriptions, in bytes. Some
	// clients show it to models as it is, while texts are cut to the limits of results.
	maxStructured = 50_000
)

// resourceTools are the tools for the resources of all servers of a set, which are offered while
// a connected server has any. Nothing is kept of the lists: what a server tells when it is asked
// is what counts, so that a change of it needs no notice.
type resourceTools struct {
	mu      sync.Mutex
	offered bool
}

// offerResources offers the tools for resources, or takes them back.
func (s *Set) offerResources() {
	s.resources.mu.Lock()
	defer s.resources.mu.Unlock()
	has := slices.ContainsFunc(s.list(), (*server).hasResources)
	if has == s.resources.offered {
		return
	}
	p := host.Provided{}
	if has {
		p.Tools = []host.NativeTool{s.listTool(), s.readTool()}
	}
	switch err := s.host.Provide("resources of MCP servers", p); {
	case err == nil:
		s.resources.offered = has
	case !errors.Is(err, host.ErrClosed):
		s.options.Logger.Error("the tools for resources of MCP servers cannot be offered", "problem", visible.Short(err.Error(), maxProblem))
	}
}

// hasResources reports whether the server is connected, or was until nobody used it, and has
// resources.
func (s *server) hasResources() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources
}

// withResources are the servers that have resources and that no rule denies as a whole.
func (s *Set) withResources(p *permissions.Policy) []*server {
	return slices.DeleteFunc(s.list(), func(one *server) bool { return !one.hasResources() || one.denied(p) })
}

// denied reports whether a rule denies all that the server has.
func (s *server) denied(p *permissions.Policy) bool {
	return !p.OfferedFrom(permissions.Origin{Server: s.config.Name}, "mcp__"+s.config.Name)
}

// find returns the server with a name, of those that have resources.
func (s *Set) find(name string) (*server, error) {
	var names []string
	for _, one := range s.list() {
		if one.config.Name == name {
			if !one.hasResources() {
				return nil, abi.Errorf(abi.CodeNotFound, "the MCP server %s has no resources, or is not connected: it is %s", name, one.Status().State)
			}
			return one, nil
		}
		if one.hasResources() {
			names = append(names, one.config.Name)
		}
	}
	if len(names) == 0 {
		return nil, abi.Errorf(abi.CodeNotFound, "there is no MCP server %s, and none with resources", visible.Name(name))
	}
	return nil, abi.Errorf(abi.CodeNotFound, "there is no MCP server %s%s; those with resources are %s",
		visible.Name(name), stricttoml.DidYouMean(name, names), strings.Join(names, ", "))
}

// resource is one of a server's resources, or with a URITemplate a kind of them.
type resource struct {
	URI         string `json:"uri,omitempty"`
	URITemplate string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	MIMEType    string `json:"mimeType,omitempty"`
	Description string `json:"description,omitempty"`
	Server      string `json:"server"`
}

// address is by what it is sorted and shown.
func (r *resource) address() string { return r.URI + r.URITemplate }

// inventory is what a server has.
type inventory struct {
	resources, templates []resource
	// left is how many were left out: there are too many, or their URIs are too long.
	left int
}

// inventory asks the server for all its resources and templates.
func (s *server) inventory(ctx context.Context, hc *host.Call) (*inventory, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	inv := &inventory{}
	ctx, of := s.begin(ctx, hc, listTime, "for lists of resources")
	defer of.limit.stop()
	inv.resources, err = collect(inv, func(cursor string) ([]resource, string, error) {
		params := &mcp.ListResourcesParams{Cursor: cursor}
		r, err := request(ctx, c, of, func(ctx context.Context, token string) (*mcp.ListResourcesResult, error) {
			params.SetProgressToken(token)
			return c.session.ListResources(ctx, params)
		})
		if err != nil {
			return nil, "", err
		}
		return each(r.Resources, s.resourceOf), r.NextCursor, nil
	})
	if err != nil {
		return nil, err
	}
	inv.templates, err = collect(inv, func(cursor string) ([]resource, string, error) {
		params := &mcp.ListResourceTemplatesParams{Cursor: cursor}
		r, err := request(ctx, c, of, func(ctx context.Context, token string) (*mcp.ListResourceTemplatesResult, error) {
			params.SetProgressToken(token)
			return c.session.ListResourceTemplates(ctx, params)
		})
		if err != nil {
			return nil, "", err
		}
		return each(r.ResourceTemplates, s.templateOf), r.NextCursor, nil
	})
	if answer, ok := errors.AsType[*jsonrpc.Error](err); ok && answer.Code == jsonrpc.CodeMethodNotFound {
		err = nil // it has no templates
	}
	return inv, err
}

// collect follows the pages of a list. What it returns is sorted.
func collect(inv *inventory, page func(cursor string) (list []resource, next string, err error)) ([]resource, error) {
	var all []resource
	cursor := ""
	for range maxPages {
		list, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			if r.address() == "" || len(r.address()) > maxURI || len(all) == maxResources {
				inv.left++
				continue
			}
			all = append(all, r)
		}
		if cursor = next; next == "" || len(all) == maxResources {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b resource) int { return strings.Compare(a.address(), b.address()) })
	return all, nil
}

// each makes a list of another one, without what is null in it.
func each[T any](list []*T, of func(*T) resource) []resource {
	var out []resource
	for _, item := range list {
		if item != nil {
			out = append(out, of(item))
		}
	}
	return out
}

func (s *server) resourceOf(r *mcp.Resource) resource {
	return resource{URI: r.URI, Name: said(r.Name), MIMEType: said(r.MIMEType), Description: said(r.Description), Server: s.config.Name}
}

func (s *server) templateOf(r *mcp.ResourceTemplate) resource {
	return resource{URITemplate: r.URITemplate, Name: said(r.Name), MIMEType: said(r.MIMEType), Description: said(r.Description), Server: s.config.Name}
}

// said is what a server says of a resource, in one line.
func said(text string) string { return visible.Short(strings.TrimSpace(text), maxProblem/2) }
