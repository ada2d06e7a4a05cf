//go:build !linux

package testenv

import (
	"os"
	"testing"
)

// BoundByPermissions makes sure that the modes of files hold for the test. Only
// Linux can bind root; elsewhere root skips the test.
func BoundByPermissions(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		Permitted(t, Linux)
	}
}
