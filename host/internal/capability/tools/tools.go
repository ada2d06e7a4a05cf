package tools

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Capability answers tools.list. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operations.
func (Capability) Names() []string { return []string{abi.CapToolsList} }

// Plan checks that the request is one for the list; see [capability.Capability].
func (Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	if req.Name != abi.CapToolsList {
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
	}
	if scope.Tools == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no list of tools here")
	}
	return plan{"tools", scope.Tools}, nil
}

// plan is one request for the list.
type plan struct {
	capability.OfSession
	catalog capability.Catalog
}

// Do lists the tools.
func (p plan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	list, err := p.catalog.List()
	if err != nil {
		return abi.Answer{}, err
	}
	if list.Deferred == nil {
		list.Deferred = []abi.DeferredTool{} // a list also where it is empty
	}
	body, err := json.Marshal(list.Deferred)
	if err != nil {
		return abi.Answer{}, abi.Errorf(abi.CodeInternal, "encoding the list of tools: %w", err)
	}
	return abi.Answer{
		OK:       abi.ToolsOK{Count: len(list.Deferred), Ready: list.Ready, Pending: list.Pending},
		Body:     abi.Bytes(body),
		BodyType: abi.PartJSON,
		Size:     int64(len(body)),
	}, nil
}
