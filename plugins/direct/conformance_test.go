package direct_test

import (
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

func TestConformance(t *testing.T) {
	suite := runnertest.Direct("testdata")
	suite.New = func(testing.TB) plugins.Runner { return direct.New(direct.Options{CacheDir: testenv.CompileCache()}) }
	runnertest.Run(t, suite)
}

// TestHandles holds the runner to what package abi says of handles.
func TestHandles(t *testing.T) {
	runnertest.Handles(t, direct.New(direct.Options{CacheDir: testenv.CompileCache()}))
}
