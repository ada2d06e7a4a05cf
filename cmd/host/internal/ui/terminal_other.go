//go:build !unix

package ui

import "os"

// newTerminal is nil: keys are read as lines here.
func newTerminal(*os.File) keyboard { return nil }
