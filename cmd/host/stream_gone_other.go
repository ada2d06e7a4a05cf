//go:build !unix

package main

import "os"

// watchReader does nothing here: that a reader went away shows when the next line
// is written.
func watchReader(*os.File, func()) {}
