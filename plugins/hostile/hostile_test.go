package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/worker"
)

// childEnv holds the task of a process that was started for one.
const childEnv = "TOOLQUAY_HOSTILE_TASK"

// killAfter is when a case that is not stopped is killed.
const killAfter = 30 * time.Second

func TestMain(m *testing.M) {
	worker.Main(extismInWorker) // returns, unless this process was started as one
	text := os.Getenv(childEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := child(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestHostile calls every fixture through every runner. The cases come one
// after the other: their times are what is tested.
func TestHostile(t *testing.T) {
	for _, r := range runners {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range fixtures() {
				if f.only != "" && f.only != r.abi {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					seen := f.inChild(t, r)
					t.Log(&seen)
					f.check(t, &seen)
				})
			}
		})
	}
}

// String is a line for those who read along.
func (r *report) String() string {
	var longest time.Duration
	for _, c := range r.Calls {
		longest = max(longest, c.Took)
	}
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	line := fmt.Sprintf("load %v, longest call %v; the other plugin answered %d times, mostly in %v, at worst in %v; memory +%d MiB, other processes %d MiB; %d goroutines left",
		ms(r.Load.Took), ms(longest), r.Sound, ms(r.Slow), ms(r.Slowest), (r.Peak-r.Before)>>20, r.Below>>20, r.Left)
	if r.Collections > 0 {
		line += fmt.Sprintf("; %d collections stopped the world for %v, at worst %v", r.Collections, r.Pause, r.WorstPause)
	}
	return line
}

// inChild runs the fixture in a process of its own.
func (f *fixture) inChild(t *testing.T, r runner) report {
	t.Helper()
	dir := t.TempDir()
	f.install(t, r, dir)
	text, err := json.Marshal(task{Runner: r.name, Fixture: f.name, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), killAfter)
	defer cancel()
	command := exec.CommandContext(ctx, program(t))
	command.Env = append(os.Environ(), childEnv+"="+string(text))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = time.Second
	err = command.Run()
	var seen report
	if ctx.Err() != nil {
		t.Fatalf("not stopped: killed after %v; it was at:\n%s", killAfter, stderr.String())
	}
	if decodeErr := json.Unmarshal(stdout.Bytes(), &seen); err != nil || decodeErr != nil {
		t.Fatalf("the process ended with %v, its report with %v; it was at:\n%.2000s", err, decodeErr, stderr.String())
	}
	return seen
}

// program is this test binary without the race detector, under which neither
// times nor memory mean anything.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if raceEnabled {
		path, err = withoutRace()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var withoutRace = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "toolquay-hostile-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "hostile.test")
	if out, err := exec.Command("go", "test", "-c", "-race=false", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the tests without the race detector: %w\n%s", err, out)
	}
	return path, nil
})

// install writes the fixture and the sound plugin.
func (f *fixture) install(t *testing.T, r runner, dir string) {
	t.Helper()
	sound := new(fixture)
	for name, p := range map[string]*fixture{"hostile": f, "sound": sound} {
		folder := filepath.Join(dir, "plugins", name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, abi.ManifestFile), []byte(p.manifest(r, name)), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name+".wasm")
		write := func(path string) error { return os.WriteFile(path, p.bytes(r.abi), 0o600) }
		if p.file != nil {
			write = p.file
		}
		if err := write(path); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) manifest(r runner, name string) string {
	lines := []string{"manifest = 1", fmt.Sprintf("name = %q", name), `version = "1.0.0"`, fmt.Sprintf("abi = %q", r.abi), r.top}
	if f.kept {
		lines = append(lines, `instance = "kept"`)
	}
	lines = append(lines, "[limits]", fmt.Sprintf("memory = \"%dMiB\"", f.memoryLimit()>>20), fmt.Sprintf("time = %q", f.time()))
	if f.asks > 0 {
		lines = append(lines, fmt.Sprintf("capability_calls = %d", f.asks))
	}
	tool, export := toolName, ""
	if name == "sound" {
		tool = soundTool
		if r.abi == abi.ABIExtism {
			export = fmt.Sprintf("export = %q", toolName)
		}
	} else {
		lines = append(lines, "[[capabilities]]", fmt.Sprintf("name = %q", capabilityName), `reason = "to do harm"`)
	}
	lines = append(lines, "[[tools]]", fmt.Sprintf("name = %q", tool), `summary = "Does harm"`, `input_schema = '{"type":"object"}'`, export)
	return strings.Join(lines, "\n")
}

// check holds what was seen to what was promised.
func (f *fixture) check(t *testing.T, r *report) {
	t.Helper()
	if f.load {
		f.checkEnd(t, "loading", r.Load)
	} else if r.Load.Code != "" && r.Load.Code != f.or {
		t.Errorf("it does not load: %s", r.Load.Message)
	}
	if most := compileTime + lateLoad; r.Load.Took > most {
		t.Errorf("loading took %v, over %v", r.Load.Took, most)
	}
	if f.load && len(r.Calls) > 0 {
		t.Error("it loaded, and was called")
	} else {
		f.checkCalls(t, r.Calls)
	}
	f.checkHost(t, r)
}

// checkCalls stops at the first that is wrong: the others mostly are alike.
func (f *fixture) checkCalls(t *testing.T, calls []outcome) {
	t.Helper()
	for i, c := range calls {
		if most := f.longest(); c.Took > most+late {
			t.Errorf("call %d took %v, over its limit of %v", i+1, c.Took, most)
		}
		if f.checkEnd(t, fmt.Sprint("call ", i+1), c); t.Failed() {
			return
		}
	}
}

func (f *fixture) longest() time.Duration {
	if f.deadline > 0 {
		return min(f.deadline, f.time())
	}
	return f.time()
}

func (f *fixture) checkEnd(t *testing.T, what string, o outcome) {
	t.Helper()
	if f.or != "" && o.Code == f.or {
		return
	}
	if o.Code != f.code {
		t.Errorf("%s ended with %q (%.300s); want %q", what, o.Code, o.Message, f.code)
		return
	}
	for _, part := range f.says {
		if !strings.Contains(o.Message, part) {
			t.Errorf("%s: the error %.300q does not say %q", what, o.Message, part)
		}
	}
}

// maxLeft is how many goroutines a plugin may keep between calls: those that
// talk to its worker.
const maxLeft = 4

// checkHost checks what the rest of the process felt of it.
func (f *fixture) checkHost(t *testing.T, r *report) {
	t.Helper()
	if r.SoundErr != "" {
		t.Errorf("the other plugin failed: %s", r.SoundErr)
	}
	if r.Slow > slow || r.Slowest > stuck {
		t.Errorf("the other plugin answered %d times, nine of ten in %v, over %v, or all in %v, over %v", r.Sound, r.Slow, slow, r.Slowest, stuck)
	}
	most := f.memoryLimit()*int64(max(f.calls, 1)) + extra
	if more := r.Peak - r.Before; more > most {
		t.Errorf("the process took %d MiB more, over %d MiB", more>>20, most>>20)
	}
	if r.Pause > pause {
		t.Errorf("collections stop the world for %v, over %v", r.Pause, pause)
	}
	if r.Left > maxLeft {
		t.Errorf("%d goroutines are left", r.Left)
	}
}
