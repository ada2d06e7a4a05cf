package search

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/internal/testenv"
)

// maxSearchMemory is what the package's doc promises of one search by a number of
// workers, without its answer.
var maxSearchMemory = map[int]int{2: 128 << 20, MaxWorkers: 192 << 20}

// TestMemory holds the bound for files that ask for the most, which all workers search
// at once. Guests have their memory outside of Go's heap, so it is
// the process that is looked at.
//
//nolint:paralleltest // the memory is every test's
func TestMemory(t *testing.T) {
	root := t.TempDir()
	for kind, c := range map[string]struct {
		names string
		write func(f *os.File) error
	}{
		"lines":  {"abcd", func(f *os.File) error { return repeat(f, strings.Repeat("some words\n", 100_000), 55) }},
		"sparse": {"a", func(f *os.File) error { return sparse(f, 256<<20) }}, // the system takes seconds for more
		"line":   {"abcd", func(f *os.File) error { return repeat(f, strings.Repeat("words é ", 120_000), 100) }},
	} {
		copies(t, filepath.Join(root, kind), c.names, c.write)
	}
	// The engine itself is compiled once a process, which is no search's.
	if _, err := lines(t.Context(), "", "a+", pattern.Options{}); err != nil {
		t.Fatal(err)
	}
	cases := map[string]abi.ContentsArgs{
		"across, large in guest": {Path: "lines", Pattern: `\w{100}\s+x`, Multiline: true},
		"sparse, across lines":   {Path: "sparse", Pattern: `[^x]+\n`, Multiline: true},
		"a line":                 {Path: "line", Pattern: "nothing"},
		"a line, large in guest": {Path: "line", Pattern: `\w{150}x`},
	}
	if testenv.Thorough() {
		cases["across lines"] = abi.ContentsArgs{Path: "lines", Pattern: `nothing\s+x|\d\n\n`, Multiline: true}
		cases["sparse"] = abi.ContentsArgs{Path: "sparse", Pattern: `nothing[x]+`}
		cases["a line, by a table"] = abi.ContentsArgs{Path: "line", Pattern: `[0-9]+x`}
		cases["a line, in the guest"] = abi.ContentsArgs{Path: "line", Pattern: `\A\d+x`}
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			for workers, bound := range maxSearchMemory {
				if workers != MaxWorkers && !testenv.Thorough() {
					continue
				}
				if testenv.Race { // which takes as much again, several times
					bound *= 8
				}
				debug.FreeOSMemory()
				before := resident(t)
				most, stop := residentPeak(t)
				_, _, err := callOf(t, New(Options{Engine: engine, Workers: workers}), root, args)
				stop()
				if err != nil {
					t.Error(err)
				}
				used := *most - before
				t.Logf("%d workers: %d MiB", workers, used>>20)
				if used > bound {
					t.Errorf("%d workers took %d MiB, over %d", workers, used>>20, bound>>20)
				}
			}
		})
	}
}

// copies makes directories below one that each have one and the same file: the files of
// a single one would be one worker's.
func copies(t *testing.T, dir, names string, write func(f *os.File) error) {
	t.Helper()
	var first string
	for _, name := range names {
		path := filepath.Join(dir, string(name), "f")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if first != "" {
			if err := os.Link(first, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			t.Fatal(err)
		}
		first = path
	}
}

func repeat(f *os.File, text string, times int) error {
	for range times {
		if _, err := f.WriteString(text); err != nil {
			return err
		}
	}
	return nil
}

// sparse makes a file that begins as text does.
func sparse(f *os.File, size int64) error {
	if err := repeat(f, "a line\n", 2*sniffSize); err != nil {
		return err
	}
	return f.Truncate(size)
}

// resident is the memory of the process that is no file's, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Error(err)
		return 0
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
			if err != nil {
				t.Error(err)
			}
			return n << 10
		}
	}
	t.Error("the system tells no RssAnon")
	return 0
}

// residentPeak watches the memory until it is stopped.
func residentPeak(t *testing.T) (most *int, stop func()) {
	t.Helper()
	most = new(int)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			*most = max(*most, resident(t))
			select {
			case <-quit:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return most, func() { close(quit); <-done }
}
