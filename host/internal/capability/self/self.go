package self

import (
	"context"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// Capability answers the operations. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operations.
func (Capability) Names() []string {
	return []string{abi.CapSessionOutput, abi.CapSessionMessage, abi.CapSessionConfig}
}

// Plan reads the arguments; see [capability.Capability].
func (Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	switch req.Name {
	case abi.CapSessionOutput:
		return planOutput(&scope, req)
	case abi.CapSessionMessage:
		return planMessage(&scope, req)
	case abi.CapSessionConfig:
		return planConfig(&scope, req)
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
}

// What of the session is used.
const (
	targetOutput  = "output"
	targetMessage = "messages"
	targetConfig  = "settings"
)

// uses is the access to a part of the session.
func uses(target string) permissions.Access {
	return permissions.Access{Kind: permissions.AccessSession, Target: target}
}

// readArgs reads a request's arguments.
func readArgs(req abi.Request, args any) error {
	if err := json.Unmarshal(req.Args, args); err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "the arguments of %s: %w", req.Name, err)
	}
	return nil
}

// noRehearsal refuses what has no answer before it is done.
func noRehearsal(scope *capability.Scope, req abi.Request) error {
	if scope.Rehearse {
		return abi.Errorf(abi.CodeUnsupported, "%s cannot be rehearsed", req.Name)
	}
	return nil
}
