package main

import (
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

// runners are what the command runs besides the direct ABI.
func runners(o host.Options) []plugins.Runner {
	return []plugins.Runner{extism.New(extism.Options{CacheDir: o.CacheDir, Logger: o.Logger})}
}
