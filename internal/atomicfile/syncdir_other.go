//go:build !unix

package atomicfile

// SyncDir has nothing to do where directories cannot be synced by themselves.
func SyncDir(string) error { return nil }
