//go:build !unix

package paths

// HardLinked always reports false: this system does not tell how many names a file has.
func HardLinked(string) (file string, several bool) { return "", false }
