//go:build unix

package permissions_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// A FIFO without a writer blocks whoever opens it; the test's deadline is what
// would tell.
func TestLoadSettingsNeverWaits(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "settings.toml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "/dev/zero"} {
		if _, err := permissions.LoadSettings(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
