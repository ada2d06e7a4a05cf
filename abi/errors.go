package abi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Code names a kind of failure across the guest border, so that neither side
// has to read it out of a message.
type Code string

// The codes of version 1. A reader treats one it does not know as
// [CodeInternal].
const (
	// The input's fault.

	CodeInvalidInput Code = "invalid_input" // the arguments do not fit the schema or each other
	CodeNotFound     Code = "not_found"     // no such file, tool, task ...
	CodeIsDirectory  Code = "is_directory"  // a file was needed
	CodeNotDirectory Code = "not_directory" // a directory was needed
	CodeNotRegular   Code = "not_regular"   // a device, FIFO, socket or kernel file
	CodeNotText      Code = "not_text"      // binary where text was needed
	CodeTooLarge     Code = "too_large"     // over a size limit
	CodeUnknownTool  Code = "unknown_tool"  // no tool of that name
	CodeDisabled     Code = "disabled"      // the tool exists but is switched off
	CodeNotRead      Code = "not_read"      // the session has not read what is to be written over
	CodeSameText     Code = "same_text"     // what is to be written is there already
	CodeNoMatch      Code = "no_match"      // the text to replace is not in the file
	CodeNotUnique    Code = "not_unique"    // the text to replace is there more than once

	// The rules' word.

	CodeDenied        Code = "denied"         // a rule, hook or person said no
	CodeNeedsApproval Code = "needs_approval" // a person must decide and none did

	// The plugin's fault.

	CodeUndeclared Code = "undeclared"  // a capability the manifest does not declare
	CodeNotGranted Code = "not_granted" // declared, but nobody consented to it
	CodeProtocol   Code = "protocol"    // a broken message or pointer
	CodeTrap       Code = "trap"        // the guest trapped or exited
	CodeLimit      Code = "limit"       // a limit of memory, output, log lines or calls
	CodeTimeout    Code = "timeout"     // a limit of time
	CodeLoad       Code = "load"        // the module could not be loaded
	CodeReentry    Code = "reentry"     // a kept instance was called by itself

	// The world's, or the host's.

	CodeChanged     Code = "changed"     // what was judged is no longer what is there
	CodeIO          Code = "io"          // the system refused or failed
	CodeUnsupported Code = "unsupported" // this host or platform has no such thing
	CodeCancelled   Code = "cancelled"   // the call was given up
	CodeInterrupted Code = "interrupted" // the user wrote something new
	CodeInternal    Code = "internal"    // a defect of the host
)

// Error is a failure that keeps its code across the guest border.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Err is the cause on this side of the border; it does not cross it.
	Err error `json:"-"`
}

// Error returns the message, or the cause's or code's text where there is none.
func (e *Error) Error() string {
	switch {
	case e == nil:
		return "<nil>"
	case e.Message != "":
		return e.Message
	case e.Err != nil:
		return e.Err.Error()
	}
	return string(cmp.Or(e.Code, CodeInternal))
}

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is an *Error of the same code without a message of
// its own, so that errors.Is(err, &Error{Code: CodeDenied}) asks for a kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && e != nil && t != nil && t.Code == e.Code && t.Message == ""
}

// Errorf makes an [Error]. What %w names in the format becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	if _, several := err.(interface{ Unwrap() []error }); several {
		cause = err
	}
	return &Error{Code: code, Message: err.Error(), Err: cause}
}

// CodeOf returns the code an error carries. Errors of a context that ended are
// [CodeCancelled] and [CodeTimeout], others without a code [CodeInternal].
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		return e.Code
	}
	switch {
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeInternal
}

// CodeOfEnd returns the code for what is given up because a context is over: the
// one that its cause carries, [CodeTimeout] after a deadline, and else
// [CodeCancelled]. A cause is whatever an embedder says it is; one that has no
// code is no defect of the host.
func CodeOfEnd(ctx context.Context) Code {
	if code := CodeOf(context.Cause(ctx)); code != CodeInternal {
		return code
	}
	return CodeCancelled
}
