package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestHolds writes the home by way of a link.
func TestHolds(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // links
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, link := filepath.Join(base, "data", "me"), filepath.Join(base, "home")
	if err := os.MkdirAll(filepath.Join(home, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir   string
		holds bool
	}{
		{home, true},
		{filepath.Join(base, "data"), true},
		{base, true},
		{filepath.Join(home, "project"), false},
		{filepath.Join(base, "none"), false},
	} {
		if got := holds(test.dir, link); got != test.holds {
			t.Errorf("%s holds the home %s: %t", test.dir, link, got)
		}
	}
	if holds(base, "") {
		t.Error("a directory holds the home of nobody")
	}
}
