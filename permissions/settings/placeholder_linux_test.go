package settings_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/permissions/settings"
)

// TestPlaceholdersAreNoFiles loads what there is while a command runs in a sandbox,
// which has a socket for nobody in the place of each settings file there is not.
func TestPlaceholdersAreNoFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{projectFile, claudeFile} {
		p.write(t, name, "")
		if err := os.Remove(p.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	before, err := settings.Load(p.options)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{projectFile, claudeFile} {
		if err := syscall.Mknod(p.path(name), syscall.S_IFSOCK, 0); err != nil {
			t.Fatal(err)
		}
	}
	during, err := settings.Load(p.options)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range during.Files {
		if file != before.Files[i] {
			t.Errorf("%+v, and without a placeholder %+v", file, before.Files[i])
		}
	}
	if err := os.Chmod(p.path(claudeFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Load(p.options); err == nil {
		t.Error("a socket that is for somebody was taken for none")
	}
}
