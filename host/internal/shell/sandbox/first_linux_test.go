//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// TestFirstProcess: the first process of a sandbox shares the supervisor's memory, and nothing
// inside may look into it, or stop it.
func TestFirstProcess(t *testing.T) {
	t.Parallel()
	for _, users := range []bool{true, false} {
		if !users && os.Geteuid() != 0 {
			continue // only root does without
		}
		root := tree(t, "w/f")
		s := find(t, sandbox.Options{State: root + "/state"})
		if !users {
			must(t, s.WithoutUsers(t.Context()))
		}
		got, err := run(t, s, sandbox.Spec{Writable: under(root, "w"), Cwd: root + "/w"}, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, `
			for f in mem maps smaps pagemap environ auxv stack syscall personality; do head -c1 /proc/1/$f >/dev/null 2>&1 && echo "$f can be read"; done
			for f in mem oom_score_adj clear_refs coredump_filter; do { exec 9>>/proc/1/$f; } 2>/dev/null && echo "$f can be opened"; done
			for f in exe root cwd fd/0 ns/mnt; do readlink /proc/1/$f && echo "$f can be read"; done
			for s in KILL STOP SEGV BUS TRAP ABRT TERM; do kill -$s 1; done
			echo went on`)
		if got != "went on\n" || err != nil {
			t.Errorf("users %t: got\n%s (%v)", users, got, err)
		}
	}
}
