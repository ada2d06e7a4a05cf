package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins/extism"
	"github.com/toolquay/toolquay/plugins/worker"
)

// childEnv holds the task of a process that was started for one.
const childEnv = "TOOLQUAY_HOSTILE_TASK"

// killAfter is when a case that is not stopped is killed: well after all that a
// fixture's limits add up to, so that a slow machine does not get there.
const killAfter = time.Minute

func TestMain(m *testing.M) {
	worker.Main(extism.New) // returns, unless this process was started as one
	if text := os.Getenv(childEnv); text != "" {
		if err := child(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var err error
	if scratch, err = os.MkdirTemp("", "toolquay-hostile-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// scratch is a folder for the whole test binary.
var scratch string

// TestHostile calls every fixture through every runner, or hurriedly through one of
// them, by turns, where tests are not to be thorough. The cases come one after the
// other, because their times are what is tested: all but those whose modules are
// refused, which nobody calls. Under the race detector neither times nor memory mean anything.
func TestHostile(t *testing.T) {
	testenv.SkipUnderRace(t)
	for _, r := range runners {
		t.Run(r.name, func(t *testing.T) {
			for i, f := range fixtures() {
				those := runnersOf(&f)
				if !testenv.Thorough() {
					f, those = f.hurried(), those[i%len(those):][:1]
				}
				if !slices.Contains(those, r.name) {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					if f.load {
						t.Parallel()
					}
					v := judge(&f, func() report {
						seen := f.inChild(t, r)
						t.Log(&seen)
						return seen
					}, func(late string) { t.Log("late: ", late) })
					for _, fault := range slices.AppendSeq(v.wrong, maps.Values(v.late)) {
						t.Error(fault)
					}
				})
			}
		})
	}
}

// runnersOf names the runners that a fixture is for.
func runnersOf(f *fixture) (names []string) {
	for _, r := range runners {
		if f.only == "" || f.only == r.abi {
			names = append(names, r.name)
		}
	}
	return names
}

// String is a line for those who read along.
func (r *report) String() string {
	var longest time.Duration
	for _, c := range r.Calls {
		longest = max(longest, c.Took)
	}
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	line := fmt.Sprintf("load %v, longest call %v; the other plugin answered %d times, mostly in %v, at worst in %v; memory +%d MiB, other processes %d MiB; %d goroutines left; threads waited %v for a processor",
		ms(r.Load.Took), ms(longest), r.Sound, ms(r.Slow), ms(r.Slowest), (r.Peak-r.Before)>>20, r.Below>>20, r.Left, ms(r.Waited))
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
	text, err := json.Marshal(task{Runner: r.name, Fixture: f.name, Hurried: !testenv.Thorough(), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), killAfter)
	defer cancel()
	command := exec.CommandContext(ctx, path)
	command.Env = append(os.Environ(), childEnv+"="+string(text))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = 10 * time.Second
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
