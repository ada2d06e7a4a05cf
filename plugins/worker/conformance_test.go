package worker_test

import (
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestConformance holds the worker to what the direct ABI's own runner does.
func TestConformance(t *testing.T) {
	guests := runnertest.Direct("../direct/testdata")
	t.Run("in process", func(t *testing.T) {
		runnertest.Run(t, runnertest.Suite{
			New:   func(testing.TB) plugins.Runner { return direct.New(direct.Options{CacheDir: sharedCache}) },
			Guest: guests,
		})
	})
	t.Run("in a worker", func(t *testing.T) {
		runnertest.Run(t, runnertest.Suite{
			New:   func(tb testing.TB) plugins.Runner { tb.Helper(); return worker.New(abi.ABIDirect, options(tb)) },
			Guest: guests,
		})
	})
}
