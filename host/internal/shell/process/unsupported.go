//go:build !unix

package process

import (
	"context"

	"github.com/toolquay/toolquay/abi"
)

// Main does nothing here: there are no supervisors.
func Main() {}

// Supervisors start no commands here.
type Supervisors struct{}

// New makes Supervisors that start nothing.
func New(Options) *Supervisors { return &Supervisors{} }

// Ready does nothing here.
func (*Supervisors) Ready() {}

// Start fails with [abi.CodeUnsupported].
func (*Supervisors) Start(context.Context, Command) (*Process, error) {
	return nil, abi.Errorf(abi.CodeUnsupported, "commands cannot be run on this system so that nothing of them survives")
}

// Close does nothing here.
func (*Supervisors) Close() error { return nil }
