//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

func person(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there are no pseudo-terminals here")
}
