package toolquay

import (
	"errors"
	"fmt"
)

// Errorf makes an [Error] of a code. Causes named with %w are part of the text
// only: codes cross the border, chains of errors do not.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Errorf(format, args...).Error()}
}

// CodeOf returns the code an error carries, or "" if it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
