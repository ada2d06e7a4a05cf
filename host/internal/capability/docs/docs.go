package docs

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// MaxSize is the largest file that is read, in bytes: the guest has 256 MiB for
	// it and what it is decoded to.
	MaxSize = 64 << 20
	// MaxDocument is the largest PDF that goes to a model as it is, in bytes.
	MaxDocument = 32_000_000
)

// Document is a file that was read.
type Document struct {
	// Name is the file's name, without its folder.
	Name string
	// Pages is as in [abi.DocsArgs].
	Pages string
	// Content is all of it. It must not be changed.
	Content []byte
}

// Options say what turns documents into blocks.
type Options struct {
	// Run has the guest show a document. The result's blocks are text and images; its
	// structured answer is {"kind", "pages", "notes", "whole"}. It heeds ctx.
	Run func(ctx context.Context, d Document) (abi.ToolResult, error)
	// Documents says that models take PDF as it is: one of which no pages are named,
	// and which is not over [MaxDocument], is then answered as one document block.
	Documents bool
}

// Capability answers docs.read. It is safe for concurrent use.
type Capability struct{ opts Options }

var _ capability.Capability = (*Capability)(nil)

// New returns the capability.
func New(opts Options) *Capability { return &Capability{opts: opts} }

// Names lists the one operation.
func (*Capability) Names() []string { return []string{abi.CapDocsRead} }

// Plan resolves the path of a request; see [capability.Capability].
func (c *Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	p := &plan{opts: c.opts, scope: scope}
	if err := capability.ReadArgs(req, &p.args); err != nil {
		return nil, err
	}
	var err error
	if p.node, err = workspace.Overlay(scope.Cwd, p.args.Path, scope.Stage); err != nil {
		return nil, err
	}
	return p, nil
}

type plan struct {
	opts  Options
	scope capability.Scope
	args  abi.DocsArgs
	node  *workspace.Overlaid
}

// Accesses names the file.
func (p *plan) Accesses() []permissions.Access {
	return []permissions.Access{p.node.Access(permissions.AccessRead, false)}
}

// Close lets go of the file.
func (p *plan) Close() error { return p.node.Close() }
