package self

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Capability answers the operations. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operations.
func (Capability) Names() []string {
	return []string{abi.CapSessionOutput, abi.CapSessionMessage, abi.CapSessionConfig, abi.CapSessionSkill, abi.CapSessionWorktree}
}

// Plan reads the arguments; see [capability.Capability].
func (Capability) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	switch req.Name {
	case abi.CapSessionOutput:
		return planOutput(&scope, req)
	case abi.CapSessionMessage:
		return planMessage(&scope, req)
	case abi.CapSessionConfig:
		return planConfig(&scope, req)
	case abi.CapSessionSkill:
		return planSkill(&scope, req)
	case abi.CapSessionWorktree:
		return planWorktree(ctx, &scope, req)
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
}

// What of the session is used.
const (
	targetOutput  = "output"
	targetMessage = "messages"
	targetConfig  = "settings"
	targetSkills  = "skills"
)

// noRehearsal refuses what has no answer before it is done.
func noRehearsal(scope *capability.Scope, req abi.Request) error {
	if scope.Rehearse {
		return abi.Errorf(abi.CodeUnsupported, "%s cannot be rehearsed", req.Name)
	}
	return nil
}
