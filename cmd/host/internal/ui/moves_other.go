//go:build !unix && !windows

package ui

import "os"

// moves is false: nothing is known of terminals here.
func moves(*os.File) bool { return false }
