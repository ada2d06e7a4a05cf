package search

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestMany holds that memory does not grow with the number of files, but with the limit.
// TOOLQUAY_ENTRIES sets the number, such as 1000000, half of it in one directory.
//
//nolint:paralleltest // the heap is every test's
func TestMany(t *testing.T) {
	entries := testenv.Sample(4_000)
	if text := os.Getenv("TOOLQUAY_ENTRIES"); text != "" {
		var err error
		if entries, err = strconv.Atoi(text); err != nil {
			t.Fatal("TOOLQUAY_ENTRIES: ", err)
		}
	}
	root := t.TempDir()
	for i := range entries {
		dir := filepath.Join(root, "flat")
		if i%2 == 1 {
			dir = filepath.Join(root, strconv.Itoa(i/20_000), strconv.Itoa(i/200))
		}
		path := filepath.Join(dir, fmt.Sprintf("file-%d.go", i))
		err := os.WriteFile(path, nil, 0o600)
		if os.IsNotExist(err) {
			if err = os.MkdirAll(dir, 0o700); err == nil {
				err = os.WriteFile(path, nil, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"**/*.go", "**/*.nothing"} {
		var ok abi.NamesOK
		var err error
		var took time.Duration
		grown := testenv.HeapGrowth(func() {
			start := time.Now()
			_, ok, err = names(t, root, abi.NamesArgs{Pattern: pattern, Limit: 100}, all)
			took = time.Since(start)
		})
		if err != nil || pattern == "**/*.go" && (ok.Total != entries || ok.Count != 100) {
			t.Errorf("%s: %+v %v, want %d", pattern, ok, err, entries)
		}
		t.Logf("%s among %d files: %v, %d MB more on the heap", pattern, entries, took.Round(time.Millisecond), grown>>20)
		if grown > 64<<20 {
			t.Errorf("%s: %d MB more on the heap", pattern, grown>>20)
		}
	}
}
