package worker_test

import (
	"context"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestModulesAreBounded by the same limit as in the host's own process, before a
// process is started for them.
func TestModulesAreBounded(t *testing.T) {
	o := options(t)
	o.Command = []string{"/not/there"}
	o.MaxModule = 1000
	_, err := worker.New(abiProbe, o).Load(t.Context(), moduleOf(make([]byte, 1001)))
	runnertest.WantCode(t, err, abi.CodeLoad, "the module is refused: it has 1001B", "over the host's limit of 1000B")
	o.MaxModule = 0
	_, err = worker.New(abiProbe, o).Load(t.Context(), moduleOf(make([]byte, 32<<20+1)))
	runnertest.WantCode(t, err, abi.CodeLoad, "over the host's limit of 32MiB")

	o = options(t)
	o.MaxModule = 1000
	in, err := worker.New(abiProbe, o).Load(t.Context(), moduleOf(make([]byte, 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
