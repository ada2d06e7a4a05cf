package shell

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// maxCommand is the longest command, in bytes: systems give a program no longer
// argument.
const maxCommand = 128<<10 - 1

// guard refuses what could not run as it stands, and finds out what the rest is.
func (p *plan) guard() error {
	text := p.args.Command
	switch at := strings.IndexByte(text, 0); {
	case at >= 0:
		return abi.Errorf(abi.CodeInvalidInput, "the command holds a NUL at byte %d, which no shell can be given", at)
	case len(text) > maxCommand:
		return abi.Errorf(abi.CodeInvalidInput, "the command has %d bytes; a shell takes at most %d, so write it to a file and run that", len(text), maxCommand)
	case p.args.Timeout < 0:
		return abi.Errorf(abi.CodeInvalidInput, "timeout_ms is %d; it is a number of milliseconds", p.args.Timeout)
	case p.args.Background && p.scope.Tasks == nil:
		return abi.Errorf(abi.CodeUnsupported, "nothing can go on in the background here; run the command without run_in_background, and give it the timeout that it needs")
	}
	if err := p.findShell(); err != nil {
		return err
	}
	if p.c.opts.Mode == sandbox.Required && p.c.opts.Sandbox == nil && !p.args.Unsandboxed {
		return abi.Errorf(abi.CodeUnsupported, "commands must run in a sandbox here, and there is none: %s", p.c.opts.Missing)
	}
	command := p.scope.Shell.Analyse(text)
	p.command = command
	if p.isPowerShell() {
		p.command = permissions.Command{Text: text} // what is known of it is for its judges
	}
	if p.args.Background || !p.scope.Shell.Offers(SleepTool) {
		return nil
	}
	return OnlyWaits(&command, p.scope.Tasks != nil)
}

func (p *plan) isPowerShell() bool { return p.args.Shell == abi.ShellPowerShell }

// findShell finds the program of the shell that is asked for.
func (p *plan) findShell() (err error) {
	switch p.args.Shell {
	case "", abi.ShellBash:
		p.program, err = p.c.bash()
	case abi.ShellPowerShell:
		p.program, err = p.c.powerShell()
		if n := len(encoded(p.args.Command)); err == nil && n > maxCommand {
			return abi.Errorf(abi.CodeInvalidInput, "the command has %d bytes as PowerShell takes it; at most %d are possible, so write it to a file and run that", n, maxCommand)
		}
	default:
		return abi.Errorf(abi.CodeInvalidInput, "%q is no shell; there are %s and %s", p.args.Shell, abi.ShellBash, abi.ShellPowerShell)
	}
	return err
}

// onlySleeps reports whether a command does nothing but wait: nobody needs that in the
// background.
func (p *plan) onlySleeps() bool {
	if p.command.Fault != "" || len(p.command.Parts) == 0 {
		return false
	}
	for i := range p.command.Parts {
		if words := p.command.Parts[i].Words; len(words) == 0 || filepath.Base(words[0].Text) != "sleep" {
			return false
		}
	}
	return true
}

// title is a line for people about a command.
func (p *plan) title() string {
	if p.args.Description != "" {
		return p.args.Description
	}
	line, _, more := strings.Cut(strings.TrimSpace(p.args.Command), "\n")
	if more {
		return fmt.Sprint(line, " ...")
	}
	return line
}
