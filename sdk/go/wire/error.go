package wire

// Error returns the message, or the code where there is none.
func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return string(e.Code)
}

// Is reports whether target is an *Error of the same code without a message of
// its own, so that errors.Is(err, &Error{Code: CodeDenied}) asks for a kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}
