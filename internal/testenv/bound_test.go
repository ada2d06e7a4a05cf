package testenv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestBoundByPermissions(t *testing.T) {
	Permitted(t, Unix)
	file := filepath.Join(t.TempDir(), "mute")
	if err := os.WriteFile(file, nil, 0); err != nil {
		t.Fatal(err)
	}
	t.Run("bound", func(t *testing.T) {
		BoundByPermissions(t)
		if _, err := os.ReadFile(file); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
	if _, err := os.ReadFile(file); os.Geteuid() == 0 && err != nil {
		t.Errorf("root's powers did not come back: %v", err)
	}
}
