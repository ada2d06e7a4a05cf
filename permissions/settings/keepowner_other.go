//go:build !unix || solaris || aix

package settings

import "io/fs"

// keepOwner has nothing to do: a file made here has the owner of its directory's
// access control list.
func keepOwner(string, fs.FileInfo) error { return nil }
