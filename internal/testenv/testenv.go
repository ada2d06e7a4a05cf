// Package testenv decides what a test does where the machine lacks something, or
// is slow.
//
// A test that needs a program installed by CI calls [NeedTool]: elsewhere it is
// skipped, under CI it fails, so that nothing goes untested in silence. What CI
// itself cannot have (another operating system, PowerShell) is listed in
// permitted.go and asked for with [Permitted]. No other test of this repository
// may skip; a test in internal/test/repo holds that.
//
// No test may fail because a machine is busy, and none may let pass what is slow
// by itself. What never comes is told by [Patience]; how much there is to do, by
// [Work]; a promise of an absolute time is tested with [InTime]. Packages whose tests
// wait more than they work run more of them at once, with [Waiting]. A program that a test
// makes and runs is written with [WriteProgram]. What a directory holds before and after
// something is compared with [Tree].
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// NeedTool returns the path of a program, or skips the test where it is not
// installed. Under CI a missing program fails the test instead.
func NeedTool(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(tb, "the program "+name+" is not installed")
	}
	return path
}

// Missing skips the test for want of something, or fails it under CI.
func Missing(tb testing.TB, what string) {
	tb.Helper()
	if InCI() {
		tb.Fatalf("%s, and CI must not skip", what)
	}
	tb.Skipf("skipped: %s", what)
}

// InCI reports whether the tests run where everything they need is installed:
// the environment variable CI is set and not empty.
func InCI() bool { return os.Getenv("CI") != "" }
