package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	analysis "github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// command is a command that was understood. Every stage has it.
type command struct {
	setup *setup
	times Time
	scope capability.Scope
	args  abi.ShellArgs
	// program is the path of the shell that runs it.
	program string
	// known is the analysis of the command; only its text for PowerShell.
	known permissions.Command
}

// maxCommand is the longest command, in bytes: systems pass no longer argument to programs.
const maxCommand = 128<<10 - 1

// decode reads arguments strictly: with unknown ones ignored, another command than the one
// that was meant might run.
func decode(req abi.Request, args *abi.ShellArgs) error {
	if !utf8.Valid(req.Args) {
		return abi.Errorf(abi.CodeInvalidInput, "the arguments of %s are not UTF-8", req.Name)
	}
	d := json.NewDecoder(bytes.NewReader(req.Args))
	d.DisallowUnknownFields()
	err := d.Decode(args)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is more behind them")
		}
	}
	if err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "the arguments of %s: %w", req.Name, err)
	}
	return nil
}

// check refuses a command that cannot run.
func (c *command) check() error {
	text := c.args.Command
	switch at := strings.IndexByte(text, 0); {
	case at >= 0:
		return abi.Errorf(abi.CodeInvalidInput, "the command holds a NUL at byte %d, which no shell can be given", at)
	case len(text) > maxCommand:
		return abi.Errorf(abi.CodeInvalidInput, "the command has %d bytes; a shell takes at most %d, so write it to a file and run that", len(text), maxCommand)
	case c.args.Timeout < 0:
		return abi.Errorf(abi.CodeInvalidInput, "timeout_ms is %d; it is a number of milliseconds", c.args.Timeout)
	case c.args.Background && c.scope.Tasks == nil:
		return abi.Errorf(abi.CodeUnsupported, "nothing can go on in the background here; run the command without run_in_background, and give it the timeout that it needs")
	}
	return nil
}

// analyse finds out what the command would do. It refuses one that begins by waiting, if
// there is something better.
func (c *command) analyse() error {
	known := c.scope.Shell.Analyse(c.args.Command)
	c.known = known
	if c.isPowerShell() {
		c.known = permissions.Command{Text: c.args.Command} // its analysis is for its judges
	}
	if c.args.Background {
		return nil
	}
	if err := OnlyWaits(&known, c.scope.Tasks != nil); err != nil && c.scope.Shell.Offers(SleepTool) {
		return err
	}
	return nil
}

func (c *command) isPowerShell() bool { return c.args.Shell == abi.ShellPowerShell }

// argv is the shell with the command, byte for byte.
func (c *command) argv() []string {
	if c.isPowerShell() {
		return powerShellArgs(c.program, c.args.Command)
	}
	return []string{c.program, "-c", c.args.Command}
}

// timeout is how long the command may take.
func (c *command) timeout() time.Duration {
	if c.args.Timeout == 0 {
		return c.times.Default
	}
	// Compared in milliseconds, as what a call asks for may be any number.
	return time.Duration(min(c.args.Timeout, c.times.Max.Milliseconds())) * time.Millisecond
}

// movers are what can have a shell change its own directory, by themselves or by running text
// and functions in it. Programs cannot.
var movers = []string{
	"cd", "pushd", "popd", "eval", "source", ".", "builtin", "command", "trap", "alias", "shopt", "enable", "mapfile", "readarray",
	"compgen", "complete", "jobs",
}

// reports says whether the shell has to report its last directory: whether it may have left the
// one where it began, with an environment. A report costs a trap, and a fork for the last program,
// which would otherwise replace the shell.
func (c *command) reports(env []string) bool {
	if c.isPowerShell() || c.known.ReadOnly && !analysis.Calls(&c.known, "cd", "pushd", "popd") {
		return false
	}
	function := func(setting string) bool { return strings.HasPrefix(setting, "BASH_FUNC_") }
	return analysis.Calls(&c.known, movers...) || slices.ContainsFunc(env, function)
}

// movable reports whether the command may move to the background unasked. One that only
// sleeps may not: nobody needs it there.
func (c *command) movable() bool { return c.scope.Tasks != nil && !onlySleeps(&c.known) }

// title is a line for people about a command.
func (c *command) title() string {
	if c.args.Description != "" {
		return c.args.Description
	}
	line, _, more := strings.Cut(strings.TrimSpace(c.args.Command), "\n")
	if more {
		return fmt.Sprint(line, " ...")
	}
	return line
}
