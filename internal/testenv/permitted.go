package testenv

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync"
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
	// Overlay is an overlay that an ordinary user may mount in a user namespace: nested
	// containers cannot.
	Overlay = Need{"overlayfs in a user namespace", sync.OnceValue(overlay)}
)

// Permitted skips the test where the need is not met, under CI too.
func Permitted(tb testing.TB, need Need) {
	tb.Helper()
	if !need.present() {
		tb.Skipf("skipped: needs %s", need.what)
	}
}

// overlay reports whether an overlay could be mounted.
func overlay() bool {
	dir, err := os.MkdirTemp("", "overlay")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }() // it was only for this
	const mount = `mkdir l u w m && mount -t overlay -o userxattr,lowerdir=l,upperdir=u,workdir=w none m`
	cmd := exec.CommandContext(context.Background(), "unshare", "-Urm", "sh", "-c", mount)
	cmd.Dir = dir
	return cmd.Run() == nil
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
