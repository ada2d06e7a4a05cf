package engine

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/internal/visible"
)

// What a module says of itself, and errors of the engine that repeat it, are shown through
// the functions below: in one line, with no hidden character, and cut.

const (
	// maxTold bounds an error that a module had a hand in, in bytes.
	maxTold = 2 << 10
	// maxSaid bounds the log line that an error repeats, in bytes.
	maxSaid = 500
	// maxFaults bounds the faults of a module that an error lists.
	maxFaults = 20
)

// ImportName is the name of an import.
func ImportName(module, name string) string { return PlainName(module) + "." + PlainName(name) }

// PlainName is a name as it is, or quoted and cut where it is not plain.
func PlainName(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) || len(name) > maxPlain {
		return visible.Name(name)
	}
	return name
}

// maxPlain bounds the names that are shown unquoted, in bytes.
const maxPlain = 64

// Faults lists the faults of a module, as in "the module FAULT; it FAULT".
func Faults(list []string) string {
	if n := len(list) - maxFaults; n > 0 {
		list = append(list[:maxFaults:maxFaults], fmt.Sprintf("has %d more such faults", n))
	}
	return strings.Join(list, "; it ")
}

// Told is a message that a module had a hand in.
func Told(message string) string { return visible.Short(message, maxTold) }

// FirstLine is an error without the guest's stack trace, which is for its author's log.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\nwasm stack trace:")
	return Told(line)
}

// maxTrace bounds the stack trace of a trap, in bytes.
const maxTrace = 4 << 10

// Trace is the guest's stack trace in an error, with the names of its functions where
// the module has them; "" where there is none.
func Trace(err error) string {
	_, trace, ok := strings.Cut(err.Error(), "\nwasm stack trace:")
	if !ok {
		return ""
	}
	if len(trace) > maxTrace {
		trace = trace[:maxTrace]
	}
	return "stack trace of the module:" + strings.ToValidUTF8(trace, "\uFFFD")
}

// Said repeats what a guest logged last, or its panic, for the message of its failure.
func Said(log string) string {
	if log == "" {
		return ""
	}
	return " (it last logged " + visible.Quote(log, maxSaid) + ")"
}
