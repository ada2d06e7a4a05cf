//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// whiteout fails: the scripts that use it are skipped on this system.
func whiteout(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("there is no overlayfs") }
