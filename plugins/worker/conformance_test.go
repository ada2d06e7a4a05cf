package worker_test

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestConformance holds the worker to what the direct ABI's own runner does.
func TestConformance(t *testing.T) {
	suite := runnertest.Direct("../direct/testdata")
	suite.New = func(tb testing.TB) plugins.Runner { tb.Helper(); return worker.New(abi.ABIDirect, options(tb)) }
	suite.ClosingEndsCalls = true
	runnertest.Run(t, suite)
}

// TestHandles holds the worker to what package abi says of handles.
func TestHandles(t *testing.T) {
	runnertest.Handles(t, worker.New(abi.ABIDirect, options(t)))
}
