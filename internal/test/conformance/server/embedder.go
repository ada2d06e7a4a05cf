package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/permissions"
)

// embedder has the capabilities that the plugin of the fixtures uses. It implements
// [capability.Capability].
type embedder struct {
	server *mcp.Server

	mu    sync.Mutex
	lists map[*sdk.Server]struct{} // what clients see, while they are there
}

func (*embedder) Names() []string {
	return []string{"client.input", "client.can", "client.log", "test.sleep", "test.change"}
}

// arguments are those of all operations.
type arguments struct {
	Requests     sdk.InputRequestMap `json:"requests"`
	Message      string              `json:"message"`
	Milliseconds int64               `json:"milliseconds"`
	List         string              `json:"list"`
}

func (e *embedder) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	p := plan{embedder: e, operation: req.Name, call: scope.Call.ID}
	if err := json.Unmarshal(req.Args, &p.arguments); err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s: %w", req.Name, err)
	}
	return p, nil
}

// plan is one operation. None touches anything that rules are about.
type plan struct {
	*embedder
	arguments
	operation, call string
}

func (plan) Accesses() []permissions.Access { return nil }

func (plan) Close() error { return nil }

func (p plan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	switch p.operation {
	case "client.input":
		return p.input(ctx)
	case "client.can":
		return p.can(), nil
	case "client.log":
		return abi.Answer{OK: struct{}{}}, logTo(ctx, p.Message)
	case "test.change":
		p.change()
		return abi.Answer{OK: struct{}{}}, nil
	}
	select {
	case <-time.After(time.Duration(p.Milliseconds) * time.Millisecond):
		return abi.Answer{OK: struct{}{}}, nil
	case <-ctx.Done():
		return abi.Answer{}, context.Cause(ctx)
	}
}

// input asks the client whose call it is.
func (p plan) input(ctx context.Context) (abi.Answer, error) {
	responses, err := p.server.Input(ctx, p.call, p.Requests)
	if errors.Is(err, host.ErrNobody) {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "the client cannot be asked that")
	}
	return abi.Answer{OK: responses}, err
}

func (p plan) can() abi.Answer {
	can := struct {
		Elicitation bool `json:"elicitation"`
		Sampling    bool `json:"sampling"`
		Roots       bool `json:"roots"`
	}{}
	if c := p.server.Capabilities(p.call); c != nil {
		can.Elicitation, can.Sampling, can.Roots = c.Elicitation != nil, c.Sampling != nil, c.RootsV2 != nil
	}
	return abi.Answer{OK: can}
}
