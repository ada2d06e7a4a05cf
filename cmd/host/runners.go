package main

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
	"github.com/toolquay/toolquay/plugins/worker"
)

// equip gives a host what the command runs besides the direct ABI, and child
// processes of this program for strangers' modules and for isolated plugins.
func equip(o *host.Options) {
	command, err := worker.Self()
	if err != nil {
		// Without a program to start, workers refuse what they are asked to do.
		o.Logger.Warn("no worker processes can be started", "reason", err)
	}
	w := worker.Options{Command: command, CacheDir: o.CacheDir, Logger: o.Logger}
	o.Compiler = worker.NewCompiler(w)
	o.Runners = []plugins.Runner{extism.New(extism.Options{CacheDir: o.CacheDir, Compiler: o.Compiler, Logger: o.Logger})}
	o.Isolated = []plugins.Runner{worker.New(abi.ABIDirect, w), worker.New(abi.ABIExtism, w)}
}

// extismRunner runs Extism plugins within a worker.
func extismRunner(o worker.RunnerOptions) plugins.Runner {
	return extism.New(extism.Options{CacheDir: o.CacheDir, Ahead: o.Ahead, Logger: o.Logger})
}
