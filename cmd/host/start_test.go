package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostInitialised bounds what a package may allocate before main, in bytes: 8 KB of ours,
// and 32 KB of a library, but of those named. Fresh memory is most of what the start of a
// command costs, and unlike time it is the same on every machine. Errors and short lists
// of names fit in; tables and regular expressions do not: those are made when they are
// first used.
func mostInitialised(pkg string) int {
	switch {
	case pkg == "github.com/santhosh-tekuri/jsonschema/v5": // it compiles its own schemas: 2 ms
		return 1100 << 10
	case pkg == "github.com/itchyny/gojq": // the tables of its parser: 0.2 ms
		return 256 << 10
	case pkg == "github.com/google/jsonschema-go/jsonschema": // the SDK of MCP brings it: 0.1 ms
		return 128 << 10
	case strings.HasPrefix(pkg, "github.com/toolquay/toolquay/"):
		return 8 << 10
	}
	return 32 << 10
}

// TestInitialisers holds the work that every command does before it begins, needed or
// not, to next to nothing.
func TestInitialisers(t *testing.T) {
	t.Parallel()
	version := exec.Command("toolquay", "version")
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	version.Stderr = &trace
	if err := version.Run(); err != nil {
		t.Fatalf("%v\n%s", err, trace.String())
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)
	packages := line.FindAllStringSubmatch(trace.String(), -1)
	ours := 0
	for _, p := range packages {
		if strings.HasPrefix(p[1], "github.com/toolquay/toolquay/") {
			ours++
		}
		if bytes, err := strconv.Atoi(p[2]); err != nil || bytes > mostInitialised(p[1]) {
			t.Errorf("%s allocates %s bytes before main, more than %d; make what they hold at its first use (sync.OnceValue, internal/lazyregexp)", p[1], p[2], mostInitialised(p[1]))
		}
	}
	if ours == 0 {
		t.Fatalf("the runtime told of no package of ours:\n%s", trace.String())
	}
}
