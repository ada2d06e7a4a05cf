package shell_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// peakMemory is the most memory that this process had, in bytes. What the system tells
// of a child counts what its parent had, too.
func peakMemory(tb testing.TB) (peak int64) {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(line, &peak); err != nil {
		tb.Fatal(err)
	}
	return peak << 10
}
