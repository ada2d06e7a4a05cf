//go:build !(linux && (amd64 || arm64))

package calls

import "errors"

// Carrier carries out no programs on this system.
type Carrier struct{}

// Start fails.
func (*Carrier) Start(*Program, []uintptr, int) (int, error) { return 0, errors.ErrUnsupported }

// Continue fails.
func (*Carrier) Continue(int, *Program, []uintptr, int) error { return errors.ErrUnsupported }
