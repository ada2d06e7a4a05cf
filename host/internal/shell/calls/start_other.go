//go:build !(linux && (amd64 || arm64))

package calls

import "errors"

// Start fails: there are no programs on this system.
func (*Program) Start([]uintptr, int) (int, error) { return 0, errors.ErrUnsupported }
