//go:build unix

package results_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/internal/testenv"
)

// childFillsDisk fits results while the system has room for short files only, and then
// one more when it has room again. It writes what is sent of them to files.
func childFillsDisk(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	f, err := sessiondir.Open(filepath.Join(dir, "sessions"), "s", log)
	must(err)
	k := results.New(results.Options{}, f, log)
	var old syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: old.Max}))
	s, err := k.Spill()
	must(err)
	for range 100 {
		_, err := s.Write([]byte(lines("spilled", 10_000)))
		must(err)
	}
	done, err := s.Done()
	must(err)
	full := []abi.ToolResult{
		text("fits", lines("fits", 60_000)), text("held", lines("held", 200_000)),
		{ToolUseID: "spilled", Content: []abi.Block{spilled(done)}},
	}
	for i := range full {
		k.Fit(results.Call{Tool: "T"}, &full[i])
	}
	names, err := os.ReadDir(filepath.Join(f.Path(), results.Dir))
	must(err)
	if len(names) != 1 {
		must(fmt.Errorf("what could not be written takes room: %v", names))
	}
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	after := text("after", lines("after", 200_000))
	k.Fit(results.Call{Tool: "T"}, &after)
	for _, r := range append(full, after) {
		must(os.WriteFile(filepath.Join(dir, r.ToolUseID), []byte(r.Text()), 0o600))
	}
	os.Exit(0) // without closing it
}

// TestReadOnlyFolder has places that cannot be written to, and then can. Results are
// cut meanwhile, and no session ends for it.
func TestReadOnlyFolder(t *testing.T) {
	dir := sessions(t)
	k := keep(t, dir, results.Options{})
	testenv.BoundByPermissions(t)
	long := lines("x", 2<<20)
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	for n, locked := range []string{dir, filepath.Join(dir, "s"), filepath.Join(dir, "s", results.Dir)} {
		if err := os.Chmod(locked, 0o500); err != nil {
			t.Fatal(err)
		}
		k.log.Reset()
		r := text(fmt.Sprint(n, " held"), long)
		f := k.Fit(results.Call{Tool: "T"}, &r)
		checkLost(t, k, f, r, long)
		r = abi.ToolResult{ToolUseID: fmt.Sprint(n, " spilled"), Content: []abi.Block{spilled(spill(t, k.Store, long))}}
		f = k.Fit(results.Call{Tool: "T"}, &r)
		checkLost(t, k, f, r, long)
		if err := os.Chmod(locked, 0o700); err != nil {
			t.Fatal(err)
		}
		r = text(fmt.Sprint(n, " then"), long)
		if f := k.Fit(results.Call{Tool: "T"}, &r); f.Stored == nil || slurp(t, f.Stored.Path) != long {
			t.Errorf("%s: it is not persisted though it can be", locked)
		}
		if locked == dir { // what is made then is there already
			if err := os.RemoveAll(filepath.Join(dir, "s", results.Dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFullDisk has results that the disk has no room for. The model gets as much of
// them as it may, and they take no room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := child(t, "full", dir, 0)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatal(err, said.String())
	}
	sent := func(id string) string { return slurp(t, filepath.Join(dir, id)) }
	for id, begins := range map[string]string{"held": lines("held", 200_000), "spilled": lines("spilled", 10_000)} {
		got := sent(id)
		if !strings.HasPrefix(got, begins[:9_000]) || len(got) < 45_000 || len(got) > results.DefaultMaxChars+1 || !strings.Contains(got, "could not be written to a file") {
			t.Errorf("%s: %d bytes were sent, %.200q ... %.200q", id, len(got), got, got[max(0, len(got)-200):])
		}
	}
	if n := strings.Count(said.String(), "file too large"); n < 2 {
		t.Errorf("the log says %s", &said)
	}
	k := keep(t, filepath.Join(dir, "sessions"), results.Options{})
	if names := inResults(t, k); len(names) != 2 {
		t.Errorf("there are %q", names)
	}
	want := []abi.ToolResult{text("fits", sent("fits")), text("after", sent("after"))}
	again := []abi.ToolResult{text("fits", lines("fits", 60_000)), text("after", lines("after", 200_000))}
	k.Turn(again, nil)
	if !reflect.DeepEqual(again, want) || k.log.Len() > 0 {
		t.Errorf("after a restart: %s; %s", fmt.Sprint(again), k.log)
	}
}
