//go:build unix

package testenv_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestWriteProgram runs programs that were just written, while others are forked.
func TestWriteProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				path := filepath.Join(dir, strconv.Itoa(i)+"."+strconv.Itoa(j))
				testenv.WriteProgram(t, path, []byte("#!/bin/sh\n"))
				if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	all.Wait()
}
