package hostile_test

import (
	"path/filepath"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/extism"
	"github.com/toolquay/toolquay/plugins/worker"
)

// runner is one way to run modules.
type runner struct {
	name string
	// abi is the one that its fixtures are built for.
	abi string
	// top is what its manifests say besides the ABI.
	top string
	// open adds the runner to a set's options.
	open func(o *plugins.Options, s shop)
}

// shop is what runners are made of.
type shop struct {
	cache   string
	workers worker.Options
}

var runners = []runner{
	{name: "direct", abi: abi.ABIDirect, open: func(o *plugins.Options, s shop) {
		o.Runners = append(o.Runners, direct.New(direct.Options{CacheDir: s.cache, Compiler: worker.NewCompiler(s.workers)}))
	}},
	{name: "worker", abi: abi.ABIDirect, top: `isolation = "process"`, open: func(o *plugins.Options, s shop) {
		o.Isolated = append(o.Isolated, worker.New(abi.ABIDirect, s.workers))
	}},
	{name: "extism", abi: abi.ABIExtism, open: func(o *plugins.Options, s shop) {
		o.Runners = append(o.Runners, extism.New(plugins.RunnerOptions{CacheDir: s.cache, Compiler: worker.NewCompiler(s.workers)}))
	}},
	{name: "extism in a worker", abi: abi.ABIExtism, top: `isolation = "process"`, open: func(o *plugins.Options, s shop) {
		o.Isolated = append(o.Isolated, worker.New(abi.ABIExtism, s.workers))
	}},
}

// options are those of a set over the plugins in dir, where a compiler gets so
// much time for each; 0 is the default.
func (r *runner) options(dir string, compile time.Duration) (plugins.Options, error) {
	self, err := worker.Self()
	if err != nil {
		return plugins.Options{}, err
	}
	o := plugins.Options{
		Sources:      []plugins.Source{plugins.Dir(plugins.OriginFlag, filepath.Join(dir, "plugins"))},
		Granted:      []string{"hostile"},
		Capabilities: []string{capabilityName},
	}
	r.open(&o, shop{cache: testenv.CompileCache(), workers: worker.Options{
		Command: self, CacheDir: testenv.CompileCache(), CompileTime: compile,
	}})
	return o, nil
}
