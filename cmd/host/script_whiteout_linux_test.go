package main

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// whiteout FILE marks a file in the tree of a stage as removed, as overlayfs does for users.
func whiteout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: whiteout file")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	ts.Check(syscall.Setxattr(path, "user.overlay.whiteout", []byte("y"), 0))
}
