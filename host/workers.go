package host

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// addWorkers adds to options what [PluginOptions.Workers] asks for: a compiler, the runners that
// [Main] was given, and for each ABI a runner that runs plugins in workers. What the options
// name themselves takes precedence.
func (o *Options) addWorkers() {
	command, err := worker.Self()
	if err != nil {
		// Without a program to start, workers refuse what they are asked to do.
		o.Observe.Logger.Warn("no worker processes can be started", "reason", err)
	}
	w := worker.Options{Command: command, CacheDir: o.Storage.CacheDir, Logger: o.Observe.Logger}
	if o.Plugins.Compiler == nil {
		o.Plugins.Compiler = worker.NewCompiler(w)
	}
	o.Plugins.Runners, o.Plugins.Isolated = slices.Clone(o.Plugins.Runners), append(slices.Clone(o.Plugins.Isolated), worker.New(abi.ABIDirect, w))
	if own := ownRunners.Load(); own != nil {
		for _, open := range *own {
			r := open(plugins.RunnerOptions{CacheDir: o.Storage.CacheDir, Compiler: o.Plugins.Compiler, Logger: o.Observe.Logger})
			o.Plugins.Runners, o.Plugins.Isolated = append(o.Plugins.Runners, r), append(o.Plugins.Isolated, worker.New(r.ABI(), w))
		}
	}
}
