package host

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// addWorkers adds to options what [Options.Workers] asks for: a compiler, the runners that
// [Main] was given, and for each ABI a runner that runs plugins in workers. What the options
// name themselves takes precedence.
func (o *Options) addWorkers() {
	command, err := worker.Self()
	if err != nil {
		// Without a program to start, workers refuse what they are asked to do.
		o.Logger.Warn("no worker processes can be started", "reason", err)
	}
	w := worker.Options{Command: command, CacheDir: o.CacheDir, Logger: o.Logger}
	if o.Compiler == nil {
		o.Compiler = worker.NewCompiler(w)
	}
	o.Runners, o.Isolated = slices.Clone(o.Runners), append(slices.Clone(o.Isolated), worker.New(abi.ABIDirect, w))
	if own := ownRunners.Load(); own != nil {
		for _, open := range *own {
			r := open(plugins.RunnerOptions{CacheDir: o.CacheDir, Compiler: o.Compiler, Logger: o.Logger})
			o.Runners, o.Isolated = append(o.Runners, r), append(o.Isolated, worker.New(r.ABI(), w))
		}
	}
}
