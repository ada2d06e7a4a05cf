//go:build !unix

package process

import (
	"context"

	"github.com/toolquay/toolquay/abi"
)

// Main does nothing here: there are no keepers.
func Main() {}

// Keepers start no commands here.
type Keepers struct{}

// New makes Keepers that start nothing.
func New(Options) *Keepers { return &Keepers{} }

// Ready does nothing here.
func (*Keepers) Ready() {}

// Start fails with [abi.CodeUnsupported].
func (*Keepers) Start(context.Context, Command) (*Process, error) {
	return nil, abi.Errorf(abi.CodeUnsupported, "commands cannot be run on this system so that nothing of them survives")
}

// Close does nothing here.
func (*Keepers) Close() error { return nil }
