package main

import (
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestSandboxed runs the scripts for which commands must be confined.
func TestSandboxed(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bwrap")
	runScripts(t, "testdata/sandboxed")
}
