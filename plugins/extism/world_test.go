package extism_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
)

func TestGoGuestInTheWorld(t *testing.T) {
	t.Parallel()
	wasm := testenv.GoGuest(t, "testdata/world", ".")
	guest := mustLoad(t, wasm, limits, "now", "random", "exit_zero", "look_around", "talk", "crash")
	call := func(t *testing.T, export string) string {
		t.Helper()
		result, err := guest.Call(t.Context(), invocation(export))
		if err != nil || result.IsError {
			t.Fatalf("%s: %q, %v", export, result.Text(), err)
		}
		return result.Text()
	}
	t.Run("clock", func(t *testing.T) {
		millis, slept, _ := strings.Cut(call(t, "now"), " ")
		at, err := strconv.ParseInt(millis, 10, 64)
		if err != nil || time.Since(time.UnixMilli(at)).Abs() > time.Minute || slept != "true" {
			t.Errorf("the guest's time is %s, and it slept: %s", millis, slept)
		}
	})
	t.Run("random", func(t *testing.T) {
		if a, b := call(t, "random"), call(t, "random"); len(a) != 32 || a == b {
			t.Errorf("two instances drew %s and %s", a, b)
		}
	})
	t.Run("files", func(t *testing.T) {
		if got := call(t, "look_around"); !strings.HasPrefix(got, "true true true 0 ") {
			t.Errorf("got %q; want three errors and no environment", got)
		}
	})
	t.Run("exit", func(t *testing.T) {
		_, err := guest.Call(t.Context(), invocation("exit_zero"))
		wantError(t, err, abi.CodeTrap, `exited before it answered, with code 0 (it last logged "leaving early")`)
	})
	t.Run("panic", func(t *testing.T) {
		_, err := guest.Call(t.Context(), invocation("crash"))
		wantError(t, err, abi.CodeTrap, "guest")
	})
	t.Run("reference", func(t *testing.T) {
		theirs := refer(t, wasm)
		for _, export := range []string{"look_around", "talk"} {
			agree(t, callOurs(t, guest, export, "", nil), theirs.call(t, export, "", nil))
		}
	})
	t.Run("output", func(t *testing.T) {
		var r reports
		inv := invocation("talk")
		inv.Report = r.take
		if _, err := guest.Call(t.Context(), inv); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"to standard output", "to standard error", "unfinished", "to the log"} {
			if !slices.Contains(r.lines, abi.Log{Level: "info", Message: want}) {
				t.Errorf("no log line %q in %v", want, r.lines)
			}
		}
	})
}

// TestGoGuestIsPutBack holds that a guest whose start drew random numbers can be
// put back to it all the same, if its manifest says so.
func TestGoGuestIsPutBack(t *testing.T) {
	t.Parallel()
	wasm := testenv.GoGuest(t, "testdata/world", ".")
	m := plugins.Module{Manifest: manifest("random", "crash"), Hash: sha256.Sum256(wasm), Wasm: wasm, Limits: limits}
	m.Manifest.Instance = abi.InstanceReset
	guest, err := extism.New(plugins.RunnerOptions{CacheDir: testenv.CompileCache()}).Load(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close(context.WithoutCancel(t.Context()))
	drawn := make(map[string]bool)
	for i := range 20 {
		if i%5 == 4 {
			_, err := guest.Call(t.Context(), invocation("crash"))
			wantError(t, err, abi.CodeTrap, "guest")
		}
		result, err := guest.Call(t.Context(), invocation("random"))
		if err != nil || drawn[result.Text()] {
			t.Errorf("call %d: %q, %v", i, result.Text(), err)
		}
		drawn[result.Text()] = true
	}
}

func TestExamplePlugin(t *testing.T) {
	t.Parallel()
	wasm := testenv.GoGuest(t, "../../plugin-examples/wordcount-extism", ".")
	guest := mustLoad(t, wasm, limits, "count_text", "count_file")
	theirs := refer(t, wasm)
	for _, input := range []string{`{"text":"one two"}`, `{"text":""}`, `{}`, ``, `[`, `{"text":"` + strings.Repeat("word ", 1000) + `"}`} {
		agree(t, callOurs(t, guest, "count_text", input, nil), theirs.call(t, "count_text", input, nil))
	}
	inv := invocation("count_text")
	inv.Tool.Input, inv.Tool.Output = "text", abi.OutputText
	inv.Input = []byte(`{"text":"one two"}`)
	result, err := guest.Call(t.Context(), inv)
	if err != nil || result.IsError || result.Text() != "0 lines, 2 words, 7 characters, 7 bytes" {
		t.Errorf("count_text: %q, %v", result.Text(), err)
	}
	inv = invocation("count_file")
	inv.Input = []byte(`{"file_path":"a.txt"}`)
	inv.Capability = func(_ context.Context, req abi.Request) (abi.Answer, error) {
		if string(req.Args) != `{"path":"a.txt"}` {
			return abi.Answer{}, abi.Errorf(abi.CodeDenied, "a rule says no to %s", req.Args)
		}
		return abi.Answer{OK: abi.ReadOK{Size: 12}, Body: body("a b c\nd e f\n"), Size: 12}, nil
	}
	result, err = guest.Call(t.Context(), inv)
	if err != nil || result.IsError || result.Text() != "2 lines, 6 words, 12 characters, 12 bytes" {
		t.Errorf("count_file: %q, %v", result.Text(), err)
	}
	inv.Input = []byte(`{"file_path":"b.txt"}`)
	result, err = guest.Call(t.Context(), inv)
	if err != nil || !result.IsError || !strings.Contains(result.Text(), "a rule says no") {
		t.Errorf("count_file, denied: %q, %v", result.Text(), err)
	}
}

func TestExampleManifests(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"outline-go", "wordcount-extism"} {
		file := filepath.Join("../../plugin-examples", example, abi.ManifestFile)
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := plugins.ParseManifest(file, src, nil); err != nil || m.Name != example {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestDamagedCacheIsRebuilt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	wasm := fixture(t, "guest.wasm")
	use := func() {
		t.Helper()
		runner := extism.New(plugins.RunnerOptions{CacheDir: dir})
		m := plugins.Module{Manifest: manifest("echo"), Wasm: wasm, Limits: limits}
		guest, err := runner.Load(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := guest.Call(t.Context(), invocation("echo")); err != nil {
			t.Error(err)
		}
		if err := guest.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	entries := func() (found []string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				found = append(found, path)
			}
			return err
		})
		if err != nil || len(found) == 0 {
			t.Fatalf("nothing was cached: %v", err)
		}
		return found
	}
	use()
	for _, file := range entries() {
		if err := os.WriteFile(file, []byte("WAZERO damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	use()
	for _, file := range entries() {
		if text, err := os.ReadFile(file); err != nil || string(text) == "WAZERO damaged" {
			t.Errorf("%s was not rebuilt", file)
		}
	}
}

func TestUnusableCacheIsDoneWithout(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := plugins.Module{Manifest: manifest("echo"), Wasm: fixture(t, "guest.wasm"), Limits: limits}
	guest, err := extism.New(plugins.RunnerOptions{CacheDir: file}).Load(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := guest.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFixturesAreBuilt holds the committed modules to their source.
func TestFixturesAreBuilt(t *testing.T) {
	t.Parallel()
	wat2wasm := testenv.NeedTool(t, "wat2wasm")
	sources, err := filepath.Glob("testdata/*.wat")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, source := range sources {
		out := filepath.Join(t.TempDir(), "out.wasm")
		if output, err := exec.CommandContext(t.Context(), wat2wasm, source, "-o", out).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, output)
		}
		built, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(source), ".wat") + ".wasm"
		if !bytes.Equal(built, fixture(t, name)) {
			t.Errorf("testdata/%s is out of date; run: wat2wasm %s -o testdata/%s", name, source, name)
		}
	}
}
