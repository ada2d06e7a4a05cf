package testenv

import (
	"os/exec"
	"runtime"
	"testing"
)

// Need is something a test may go without even under CI. The variables below
// are all there are: each names what CI, a Linux container run as root, cannot
// offer.
type Need struct {
	what    string
	present func() bool
}

// String names the need as skip messages do.
func (n Need) String() string { return n.what }

// The needs that permit a skip.
var (
	// PowerShell is the program pwsh.
	PowerShell = Need{"PowerShell (pwsh)", program("pwsh")}
	// SandboxExec is the sandbox of macOS.
	SandboxExec = Need{"sandbox-exec", program("sandbox-exec")}
	// Windows, MacOS and Linux are operating systems; Unix is any but Windows.
	Windows = Need{"Windows", system("windows")}
	MacOS   = Need{"macOS", system("darwin")}
	Linux   = Need{"Linux", system("linux")}
	Unix    = Need{"a Unix system", func() bool { return runtime.GOOS != "windows" }}
)

// Permitted skips the test where the need is not met, under CI too.
func Permitted(tb testing.TB, need Need) {
	tb.Helper()
	if !need.present() {
		tb.Skipf("skipped: needs %s", need.what)
	}
}

func program(name string) func() bool {
	return func() bool {
		_, err := exec.LookPath(name)
		return err == nil
	}
}

func system(goos string) func() bool {
	return func() bool { return runtime.GOOS == goos }
}
