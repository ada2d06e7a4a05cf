package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// examineShell tells which shells there are, and what their commands are confined with.
func examineShell(ctx context.Context, d *diagnosis, s *setup) {
	o := s.options.Shell
	if o == nil {
		return // the settings could not be read
	}
	if path, err := host.FindShell(abi.ShellBash, o.Bash); err != nil {
		d.add("shell", wrong, err.Error()+"; the tool Bash runs nothing")
	} else {
		d.add("shell", fine, "bash: "+path)
	}
	path, err := host.FindShell(abi.ShellPowerShell, o.PowerShell)
	switch {
	case err == nil:
		d.add("shell", fine, "PowerShell: "+path)
	case o.PowerShell != "":
		d.add("shell", wrong, err.Error())
	default:
		d.add("shell", fine, "PowerShell: none, so that the tool is not offered")
	}
	if runtime.GOOS != "windows" { // where no commands run
		examineSandbox(ctx, d, o, s.options.Paths.Home)
	}
}

// examineSandbox tells what this machine offers, and what the settings make of it.
func examineSandbox(ctx context.Context, d *diagnosis, o *host.Shell, home string) {
	mode := cmp.Or(o.Sandbox.Mode, host.SandboxWhenAvailable)
	if mode == host.SandboxOff {
		d.add("sandbox", note, "off: commands may do all that this user may")
		return
	}
	report := o.Confinement(ctx, home)
	_, warning, err := host.ChooseSandbox(mode, report)
	switch {
	case err != nil:
		d.add("sandbox", wrong, err.Error()+"; no command is run")
		return
	case warning != "":
		d.add("sandbox", note, warning)
		for _, lost := range report.Lost {
			d.add("sandbox", note, lost)
		}
		return
	}
	text := report.Kind
	if report.Version != "" {
		text += " " + report.Version
	}
	if report.Path != "" {
		text += " (" + report.Path + ")"
	}
	d.add("sandbox", fine, fmt.Sprintf("%s, %s; network: %s", text, mode, networkText(o)))
	for _, weakness := range report.Reasons {
		d.add("sandbox", note, weakness)
	}
	if report.Unstaged != "" {
		d.add("sandbox", note, "staged sessions (--stage) have no commands: "+report.Unstaged)
	}
	for _, dir := range o.Sandbox.Writable {
		switch info, err := os.Stat(dir); {
		case errors.Is(err, fs.ErrNotExist):
			d.add("sandbox", note, fmt.Sprintf("the settings make %s writable, which is not there; the first command that writes makes it", dir))
		case err != nil:
			d.add("sandbox", wrong, fmt.Sprintf("the settings make %s writable: %v; no command that writes is run", dir, err))
		case !info.IsDir():
			d.add("sandbox", wrong, fmt.Sprintf("the settings make %s writable, which is not a directory; no command that writes is run", dir))
		}
	}
}

func networkText(o *host.Shell) string {
	switch o.Sandbox.Network {
	case host.NetworkAll:
		return "all, this machine's own services included"
	case host.NetworkHosts:
		return strings.Join(append([]string{"hosts that rules on WebFetch allow"}, o.Sandbox.Hosts...), ", ")
	}
	return "off"
}
