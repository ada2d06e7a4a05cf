//go:build unix

package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/retention"
	"github.com/toolquay/toolquay/internal/testenv"
)

const childEnv, childDir = "TOOLQUAY_TEST_RETENTION_CHILD", "TOOLQUAY_TEST_RETENTION_DIR"

// children are what this test binary does when it is started as another process.
var children = map[string]func(dir string){
	"clean": func(dir string) {
		fmt.Println("begun")
		o := at(dir)
		o.Keep = 3 * day
		for _, line := range states(retention.Clean(context.Background(), o)) {
			// Another cleaner has a session for a moment, and removes it then.
			if !strings.HasSuffix(line, " removed") && !strings.HasSuffix(line, " in_use") {
				fmt.Fprintln(os.Stderr, line)
				os.Exit(1)
			}
		}
	},
}

func child(tb testing.TB, what, dir string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, childDir+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// TestForeign leaves alone, and reports, what is not ours: links, other people's files, odd names.
func TestForeign(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	outside := t.TempDir()
	precious := p.put(filepath.Join(outside, "precious"), 10, 60*day)
	for _, link := range []string{filepath.Join(p.Sessions, "link"), filepath.Join(p.State, "trust.json"), filepath.Join(p.State, "mine"),
		filepath.Join(p.Layers, strings.Repeat("a", 24)), filepath.Join(p.Compiled, "wazero-v1")} {
		p.must(os.Symlink(outside, link))
	}
	old := p.session("old", 60*day)
	p.must(os.Symlink(outside, filepath.Join(old, "tool-results", "link")))
	p.must(os.Symlink(outside, filepath.Join(old, "link")))
	young := p.session("young", time.Hour)
	p.must(os.Symlink(outside, filepath.Join(young, "tool-results", "link")))
	p.must(os.RemoveAll(filepath.Join(young, "files")))
	p.must(os.Symlink(outside, filepath.Join(young, "files")))
	for _, path := range []string{
		filepath.Join(p.Sessions, "theirs", "notes.txt"), filepath.Join(p.Sessions, "a\nb\x1b[31m", "x"), filepath.Join(p.Sessions, "file"),
		filepath.Join(p.State, "notes.txt"), filepath.Join(p.Layers, "mine", "x"), filepath.Join(p.Compiled, "wazero-v2", "mine"),
	} {
		p.put(path, 10, 60*day)
	}
	p.Keep = 3 * day
	foreign := []string{
		"sessions link foreign", "sessions theirs foreign", "sessions a\nb\x1b[31m foreign", "sessions file foreign",
		"state trust.json foreign", "state mine foreign", "state notes.txt foreign",
		"caches " + strings.Repeat("a", 24) + " foreign", "caches wazero-v1 foreign", "caches mine foreign", "caches mine foreign",
	}
	p.is(retention.Clean(t.Context(), p.Options), append(foreign, "sessions old removed")...)
	p.gone(old)
	p.there(precious, filepath.Join(young, "tool-results", "link"), filepath.Join(p.Sessions, "theirs", "notes.txt"), filepath.Join(p.Compiled, "wazero-v2", "mine"))
	p.Keep, p.KeepSessions = 1, 365*day // results of a session that stays
	p.is(retention.Clean(t.Context(), p.Options), append(foreign, "results young removed", "history history removed")...)
	p.there(precious, filepath.Join(young, "tool-results", "link"), filepath.Join(young, "files"))
	p.gone(filepath.Join(young, "tool-results", "r.txt"))
}

// TestLinkedPlaces are not followed.
func TestLinkedPlaces(t *testing.T) {
	t.Parallel()
	p, there := newPlace(t), newPlace(t)
	path := there.session("old", 60*day)
	p.must(os.Remove(p.Sessions))
	p.must(os.Symlink(there.Sessions, p.Sessions))
	r := retention.Clean(t.Context(), p.Options)
	p.is(r, "sessions sessions failed", "state sessions foreign")
	p.there(path)
	log := slog.New(slog.DiscardHandler)
	retention.Daily(t.Context(), p.Options, log)
	p.there(path)
}

// TestModes closes to others what is open to them, and nothing that links lead to.
func TestModes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.session("s", time.Hour)
	outside := p.put(filepath.Join(t.TempDir(), "file"), 1, 0)
	p.must(os.Chmod(outside, 0o644))
	p.must(os.Symlink(outside, filepath.Join(path, "link")))
	open := []string{p.Sessions, filepath.Join(path, "tool-results"), filepath.Join(path, "tool-results", "r.txt"), p.put(filepath.Join(p.State, "trust.json"), 1, 0)}
	modes := []os.FileMode{0o755, 0o770, 0o644, 0o604}
	for i, path := range open {
		p.must(os.Chmod(path, modes[i]))
	}
	want := func(state string) []string {
		return []string{"state mine foreign", "sessions theirs foreign", "state sessions " + state, "state tool-results " + state, "state r.txt " + state, "state trust.json " + state}
	}
	foreign := []string{p.put(filepath.Join(p.State, "mine", "x"), 1, 0), p.put(filepath.Join(p.Sessions, "theirs", "x"), 1, 0)}
	for _, path := range foreign {
		p.must(os.Chmod(path, 0o644))
	}
	p.is(retention.Look(t.Context(), p.Options), want("open")...)
	p.is(retention.Clean(t.Context(), p.Options), want("closed")...)
	for i, path := range open {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != modes[i]&0o700 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, path := range append(foreign, outside) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s, which is not ours: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestClosedDirectories removes directories that a command made read-only.
func TestClosedDirectories(t *testing.T) {
	p := newPlace(t)
	closed := p.session("a", 60*day)
	testenv.BoundByPermissions(t)
	p.must(os.Chmod(filepath.Join(closed, "files"), 0o500))
	p.is(retention.Clean(t.Context(), p.Options), "sessions a removed")
	p.gone(closed)
}

// TestLeftovers of processes that were killed go once nobody can be using them.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	engine := filepath.Dir(p.compiled("a", time.Hour))
	for _, name := range []string{"temporary-1", "temporary-2"} {
		p.put(filepath.Join(engine, name, "purged", "x"), 10, 0)
		p.backdate(filepath.Join(engine, name), map[string]time.Duration{"temporary-1": 2 * day, "temporary-2": time.Minute}[name])
	}
	p.put(filepath.Join(p.State, ".tmp-1"), 1, 2*day)
	young := p.put(filepath.Join(p.State, ".tmp-2"), 1, time.Minute)
	layer := p.layer("b", 2*day)
	p.must(os.Rename(layer, filepath.Join(p.Layers, "removed-"+filepath.Base(layer))))
	empty := filepath.Join(p.Sessions, "empty")
	p.must(os.Mkdir(empty, 0o700))
	p.backdate(empty, 40*day)
	p.is(retention.Look(t.Context(), p.Options), "caches temporary-1 leftover", "state .tmp-1 leftover", "caches removed-"+filepath.Base(layer)+" leftover", "sessions empty over")
	p.is(retention.Clean(t.Context(), p.Options), "caches temporary-1 removed", "state .tmp-1 removed", "caches removed-"+filepath.Base(layer)+" removed", "sessions empty removed")
	p.there(young, filepath.Join(engine, "temporary-2"))
}

// filled is a place with much that goes, and something of each that stays.
func filled(t *testing.T) (p *place, dir string) {
	t.Helper()
	p = newPlace(t)
	for i := range 30 {
		p.session(fmt.Sprintf("old%d", i), 40*day)
	}
	for digit := range strings.SplitSeq("0123456789abcdef", "") {
		p.compiled(digit, 40*day)
	}
	for _, digit := range []string{"0", "1"} {
		p.layer(digit, 40*day)
	}
	p.session("young", time.Hour)
	p.layer("f", time.Hour)
	return p, filepath.Dir(p.State)
}

// cleaned wants that only what stays is left, and whole.
func (p *place) cleaned() {
	p.tb.Helper()
	o := p.Options
	o.Keep = 3 * day
	p.is(retention.Look(p.tb.Context(), o))
	for place, want := range map[string]string{p.Sessions: "young", p.Layers: strings.Repeat("f", 24), filepath.Join(p.Compiled, "wazero-v1-linux-amd64"): ""} {
		entries, err := os.ReadDir(place)
		p.must(err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			p.tb.Errorf("%s holds %q, want %q", place, got, want)
		}
	}
	if got := p.open("young").Recall("k"); len(got) != 1 {
		p.tb.Errorf("what stays remembers %q", got)
	}
}

// TestKilledCleaners kills cleaners wherever they are. The next one finishes what is left.
func TestKilledCleaners(t *testing.T) {
	t.Parallel()
	p, dir := filled(t)
	for i := range 8 {
		cmd := child(t, "clean", dir)
		out, err := cmd.StdoutPipe()
		p.must(err)
		p.must(cmd.Start())
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 700 * time.Microsecond) // whenever: that is the test
		_ = cmd.Process.Kill()                                // it may have ended
		_ = cmd.Wait()
	}
	for _, name := range []string{filepath.Join(p.Compiled, "wazero-v1-linux-amd64"), p.Layers} {
		left, err := filepath.Glob(filepath.Join(name, "*-*"))
		p.must(err)
		for _, path := range left {
			p.backdate(path, 2*day)
		}
	}
	o := p.Options
	o.Keep = 3 * day
	empty, err := filepath.Glob(filepath.Join(p.Sessions, "old*"))
	p.must(err)
	for _, path := range empty {
		p.backdate(path, 40*day)
	}
	retention.Clean(t.Context(), o)
	p.cleaned()
}

// TestCleanersBesideEachOther: several clean at once, and none fails.
func TestCleanersBesideEachOther(t *testing.T) {
	t.Parallel()
	p, dir := filled(t)
	var running []*exec.Cmd
	for range 3 {
		cmd := child(t, "clean", dir)
		p.must(cmd.Start())
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	p.cleaned()
}
