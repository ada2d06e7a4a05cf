package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// row is one comparison: a case of ours and its baseline.
type row struct {
	name, baseline string
	ours, theirs   func(*testing.B, *lab)
	// compare writes the result; limit says what it must be.
	compare func(ours, theirs time.Duration) string
	limit   string
	// unit writes what is compared, where it is no time.
	unit func(time.Duration) string
	// fine rows differ by percents or microseconds: they are measured in many
	// short turns, of which the shortest counts.
	fine bool
	// average is a name that several rows share: the geometric mean of their ratios is
	// a line of its own.
	average string
	// sibling rows differ from another one in their data alone, so that tests leave
	// them out.
	sibling bool
	// needs is a program without which the row is left out.
	needs string
}

func (r row) write(d time.Duration) string {
	if r.unit != nil {
		return r.unit(d)
	}
	return short(d)
}

func (r row) missing() string {
	if r.needs == "" {
		return ""
	}
	if _, err := exec.LookPath(r.needs); err != nil {
		return r.needs + " is not installed"
	}
	if r.needs == bubblewrap {
		return noSandbox()
	}
	return ""
}

// noSandbox says why no sandbox can be made here, or nothing.
var noSandbox = sync.OnceValue(func() string {
	state, err := os.MkdirTemp("", "toolquay-bench-") // 0700
	if err != nil {
		return err.Error()
	}
	defer func() { _ = os.RemoveAll(state) }() // it lies in the temporary directory
	_, report := sandbox.Find(context.Background(), sandbox.Options{State: state})
	if !report.Available {
		return report.String()
	}
	return ""
})

func rows() []row {
	return slices.Concat(callRows(), instanceRows(), installRows(), loadRows(), extismRows(), collectRows(), processRows(),
		turnRows(), resultRows(), poolRows(), fuelRows(), searchRows(), editRows(), stageRows(),
		shellRows(), taskRows())
}

func fine(list []row) []row {
	for i := range list {
		list[i].fine = true
	}
	return list
}
