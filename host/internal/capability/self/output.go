package self

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// outputPlan is one session.output.
type outputPlan struct {
	capability.OfSession
	scope  *capability.Scope
	output json.RawMessage
}

func planOutput(scope *capability.Scope, req abi.Request) (capability.Plan, error) {
	if scope.Output == nil {
		return nil, abi.Errorf(abi.CodeDisabled, "nobody asked this session for structured output")
	}
	if len(req.Parts) != 1 || req.Parts[0].Type != abi.PartJSON {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s takes one part, which is JSON", req.Name)
	}
	output, err := abi.Canonical(req.Parts[0].Data)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the output: %w", err)
	}
	return &outputPlan{targetOutput, scope, output}, noRehearsal(scope, req)
}

// Do hands the output to the session, which checks it, and tells of it.
func (p *outputPlan) Do(context.Context, capability.Judge) (abi.Answer, error) {
	replaced, err := p.scope.Output.Put(p.output)
	if err != nil {
		return abi.Answer{}, err
	}
	p.scope.Tell(capability.News{Output: p.output})
	return abi.Answer{OK: abi.SessionOutputOK{Replaced: replaced}}, nil
}
