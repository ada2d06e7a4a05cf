//go:build !unix

package host

// linkedFile finds no second names where the system does not tell of them.
func linkedFile(string) (string, bool) { return "", false }
