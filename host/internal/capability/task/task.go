package task

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// Capability answers the operations on background tasks. It is safe for concurrent use.
type Capability struct{}

var _ capability.Capability = Capability{}

// New returns the capability.
func New() Capability { return Capability{} }

// Names lists the operations.
func (Capability) Names() []string {
	return []string{abi.CapTaskOutput, abi.CapTaskStop, abi.CapTaskSleep}
}

// Plan reads the arguments; see [capability.Capability]. Whether there is a task of the
// id is found out by doing it, when that may be done.
func (Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	if req.Name == abi.CapTaskSleep {
		return planSleep(scope, req)
	}
	if scope.Tasks == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there are no background tasks here")
	}
	switch req.Name {
	case abi.CapTaskOutput:
		return planOutput(scope, req)
	case abi.CapTaskStop:
		return planStop(scope, req)
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "there is no operation %q", req.Name)
}
