//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// whiteout is for scripts that other systems skip.
func whiteout(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("there is no overlayfs") }
