//go:build !unix

package discovery

import "io/fs"

// ownFile leaves it to the access control lists of the directory.
func ownFile(fs.FileInfo) error { return nil }
