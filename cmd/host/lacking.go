package main

import "runtime"

// lacking says, for people, what Toolquay does not have on a system, by the name that Go gives
// it. Where it runs whole it has nothing to say.
var lacking = map[string][]string{
	"windows": {
		"no commands run: nothing here ends all that a command starts, and there is no sandbox; Bash and PowerShell are refused",
		"rules on paths, such as Read(.env), are refused: they do not cover drives, streams and short names",
		"isolated plugins are processes without limits and without a filter of system calls",
		"whether others may write settings, grants and approvals is not checked",
		"what another program writes to a file in the moment before it is replaced is lost",
		"the index of plugins is not kept: each start reads them all",
		"nobody tests it: its builds are compiled and vetted",
	},
}

// examineSystem tells what there is not on this system.
func examineSystem(d *diagnosis, system string) {
	for _, text := range lacking[system] {
		d.add("system", note, text)
	}
}

// warnLacking says before calls that this system lacks something.
func (o *opened) warnLacking() {
	if n := len(lacking[runtime.GOOS]); n > 0 {
		o.options.Observe.Logger.Warn("much of what keeps calls in bounds is not there on this system; toolquay doctor lists it", "system", runtime.GOOS, "missing", n)
	}
}
