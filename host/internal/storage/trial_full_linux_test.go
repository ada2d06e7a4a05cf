package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestTrialOfManyFiles ends a trial that made more files than it may, and no trial that made fewer. A
// command may be too slow for that within the time of a trial, so the test makes the files, in memory.
func TestTrialOfManyFiles(t *testing.T) {
	testenv.SkipUnlessThorough(t)
	const size = 1 << 30
	disk := testenv.SmallDisk(t, size)
	if disk == "" {
		return
	}
	t.Setenv("TMPDIR", disk)
	dir := t.TempDir()
	trial, err := open(t, options(t)).NewTrial(capability.Call{ID: "call", Tool: "Bash"})
	must(t, err)
	defer func() { must(t, trial.Close()) }()
	layers, end, err := trial.Begin([]string{dir})
	must(t, err)
	defer end()
	made := 0
	fill := func(most int) {
		for ; made < most; made++ {
			f, err := os.Create(filepath.Join(layers[0].Upper, strconv.Itoa(made)))
			must(t, err)
			must(t, f.Close())
		}
	}
	fill(99_900) // and the few of the stage itself
	if err := trial.Small(t.Context()); err != nil {
		t.Errorf("with %d files: %v", made, err)
	}
	fill(100_001)
	limited, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	ctx, full := context.WithCancelCause(limited)
	defer full(nil)
	trial.Bound(ctx, full)
	if err := context.Cause(ctx); !errors.Is(err, storage.ErrTrialFull) {
		t.Errorf("with %d files: %v", made, err)
	}
}
