package main

import (
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestSandboxed runs the scripts for which commands must be confined.
func TestSandboxed(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bwrap", "python3", "curl"} {
		testenv.NeedTool(t, tool)
	}
	runScripts(t, "testdata/sandboxed")
}
