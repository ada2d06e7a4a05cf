//go:build !unix

package privatedir

import (
	"io/fs"
	"os"
)

// Make makes sure that a directory is there. Who may write to it is the
// affair of the access control lists it inherits from the user's profile.
func Make(dir string) error { return os.MkdirAll(dir, 0o700) }

// Check leaves it to them, too.
func Check(dir string) error {
	_, err := os.Lstat(dir)
	return err
}

// checkOwn leaves it to them.
func checkOwn(fs.FileInfo, string) error { return nil }
