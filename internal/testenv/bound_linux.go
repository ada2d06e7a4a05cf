package testenv

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// BoundByPermissions makes the modes of files hold for the goroutine that runs
// the test, until it ends, also where it runs as root. Other goroutines keep
// root's powers.
func BoundByPermissions(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var whole [2]unix.CapUserData
	if err := unix.Capget(&header, &whole[0]); err != nil {
		t.Fatal(err)
	}
	bound := whole
	bound[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if err := unix.Capset(&header, &bound[0]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Capset(&header, &whole[0]); err != nil {
			t.Error(err) // the thread ends with the goroutine, still locked
			return
		}
		runtime.UnlockOSThread()
	})
}
