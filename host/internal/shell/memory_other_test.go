//go:build !linux

package shell_test

import "testing"

// peakMemory is not known here.
func peakMemory(testing.TB) int64 { return 0 }
