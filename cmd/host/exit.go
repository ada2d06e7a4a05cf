package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
)

// The exit codes. helpExitCodes documents them; they do not change.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitHost     = 3
	exitDenied   = 4
	exitNoCalls  = 5
	exitNoOutput = 6
	exitSignal   = 128 // and the signal's number
)

const helpExitCodes = `Every command ends with one of these:

    0  done. For run: each call of the message has its result, and the reply
       was printed; calls that failed are results like others, unless --fail
       is given
    1  a call failed (call; run --fail), or doctor or plugins check found
       something wrong; plugins pack where the plugin could never be used;
       plugins config where the value asked for is not set;
       history restore where a file was changed since; history show, diff and
       patch where something is left out
    2  the command line is wrong, or what was to be read cannot be: a file
       that is not there, a message that is not JSON, a plugin nobody knows; for
       run --stream: a part of the stream, what else came of it being printed
    3  the host cannot start (settings, directories, plugin directories), or
       something could not be written
    4  a call was denied: by a rule, a person, for want of a person to ask or
       of a grant (call; run --fail, where nothing failed otherwise)
    5  the message is well formed and calls no tool (run)
    6  calls were run, and none handed over the output that --output-schema asks
       for (run)
  130  interrupted (SIGINT); the results of what ran were printed
  143  ended (SIGTERM), in the same way; so is 129 (SIGHUP)
`

func exitCodesHelp() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: helpExitCodes}
}

// exitError is an error that knows the exit code it stands for. Without a cause
// it says nothing: what is wrong was printed already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func hostError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitHost, err}
}

// quiet ends the command with a code and says nothing more.
func quiet(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// exitCode is the code for what a command returned. Errors without one are
// cobra's, about the command line.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitUsage
}

// resultCode is the exit code for one result.
func resultCode(r *abi.ToolResult) int {
	if !r.IsError {
		return exitOK
	}
	if r.Error != nil {
		switch r.Error.Code {
		case abi.CodeDenied, abi.CodeNeedsApproval, abi.CodeNotGranted:
			return exitDenied
		}
	}
	return exitFailed
}

// worseCode joins the codes of several results: a failure weighs more than a
// denial.
func worseCode(a, b int) int {
	switch {
	case a == exitOK:
		return b
	case b == exitOK:
		return a
	}
	return min(a, b)
}
