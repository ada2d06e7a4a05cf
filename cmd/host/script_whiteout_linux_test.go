package main

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// whiteout FILE puts a whiteout at a path of a stage's tree, in the form that overlayfs uses for
// unprivileged mounts.
func whiteout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: whiteout file")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	ts.Check(syscall.Setxattr(path, "user.overlay.whiteout", []byte("y"), 0))
}
