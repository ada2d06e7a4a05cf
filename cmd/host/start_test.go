package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostInitialised bounds what a package of ours may allocate before main, in bytes. Fresh
// memory is most of what the start of a command costs, and unlike time it is the same on
// every machine. Errors and short lists of names fit in; tables and regular expressions
// do not: those are made when they are first used.
const mostInitialised = 8 << 10

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
	line := regexp.MustCompile(`(?m)^init (github\.com/toolquay/toolquay/\S+) .* (\d+) bytes, \d+ allocs$`)
	packages := line.FindAllStringSubmatch(trace.String(), -1)
	if len(packages) == 0 {
		t.Fatalf("the runtime told of no package of ours:\n%s", trace.String())
	}
	for _, p := range packages {
		if bytes, err := strconv.Atoi(p[2]); err != nil || bytes > mostInitialised {
			t.Errorf("%s allocates %s bytes before main, more than %d; make what they hold at its first use (sync.OnceValue, internal/lazyregexp)", p[1], p[2], mostInitialised)
		}
	}
}
