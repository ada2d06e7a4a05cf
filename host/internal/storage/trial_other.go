//go:build !linux

package storage

import "io/fs"

// held is how many bytes a file takes on the disk, about.
func held(info fs.FileInfo) int64 { return info.Size() }

// freeAt is how many bytes are free on the disk of a directory; 0 is not known.
func freeAt(string) int64 { return 0 }
