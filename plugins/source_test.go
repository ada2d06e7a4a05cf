package plugins_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
)

func TestOpenFindsFoldersAndSingleFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "in-folder", manifest("in-folder", "", "Folder"), fixture(t, "ok"))
	single(t, dir, "any-name.wasm", manifest("in-file", "", "File"), fixture(t, "counter"))
	folder(t, dir, ".hidden", manifest("hidden", "", "Hidden"), fixture(t, "ok"))
	single(t, dir, ".hidden.wasm", manifest("hidden-file", "", "HiddenFile"), fixture(t, "ok"))
	write(t, filepath.Join(dir, "README.md"), []byte("not a plugin"))
	write(t, filepath.Join(dir, "plugin.toml.bak"), []byte("not one either"))
	write(t, filepath.Join(dir, "empty", "notes.txt"), nil)
	write(t, filepath.Join(dir, "dir.wasm", "notes.txt"), nil)

	set := open(t, plugins.Options{}, user(dir))
	wantNames(t, pluginNames(set), "in-file", "in-folder")
	wantNames(t, toolNames(set), "File", "Folder")
	wantCall(t, tool(t, set, "Folder"), "ok")
	wantCall(t, tool(t, set, "File"), "1")
	wantCall(t, tool(t, set, "File"), "1") // memory is clean for every call
}

func TestOpenTakesADirectoryThatIsAPlugin(t *testing.T) {
	t.Parallel()
	path := folder(t, t.TempDir(), "alone", manifest("alone", "", "Alone"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, plugins.Dir(plugins.OriginFlag, path))
	wantCall(t, tool(t, set, "Alone"), "ok")
}

// TestOpenTakesASingleFile by its own manifest or by the one beside it.
func TestOpenTakesASingleFile(t *testing.T) {
	t.Parallel()
	ok, toml := fixture(t, "ok"), manifest("alone", "", "Alone")
	tests := map[string]struct {
		make    func(dir string) string
		problem string // empty where its tool can be called
	}{
		"packed": {func(dir string) string { return single(t, dir, "any.wasm", toml, ok) }, ""},
		"packed beside others": {func(dir string) string {
			folder(t, dir, "other", manifest("other", "", "Other"), ok)
			single(t, dir, "another.wasm", manifest("another", "", "Another"), ok)
			return single(t, dir, "any.wasm", toml, ok)
		}, ""},
		"beside its manifest": {func(dir string) string { return filepath.Join(folder(t, dir, "alone", toml, ok), "alone.wasm") }, ""},
		"packed beside another's manifest": {func(dir string) string {
			return single(t, folder(t, dir, "other", manifest("other", "", "Other"), ok), "any.wasm", toml, ok)
		}, ""},
		"beside the manifest of another": {func(dir string) string {
			path := filepath.Join(folder(t, dir, "other", manifest("other", "", "Other"), ok), "any.wasm")
			write(t, path, ok)
			return path
		}, "is for the module other.wasm"},
		"without a manifest": {func(dir string) string {
			path := filepath.Join(dir, "bare.wasm")
			write(t, path, ok)
			return path
		}, "carries no manifest"},
		"a faulty manifest beside it": {func(dir string) string {
			return filepath.Join(folder(t, dir, "alone", toml+"colour = 1\n", ok), "alone.wasm")
		}, filepath.Join("alone", "plugin.toml") + " has 1 fault"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tt.make(t.TempDir())
			set := open(t, plugins.Options{}, plugins.Dir(plugins.OriginFlag, path))
			if n := len(set.Plugins()); n != 1 || set.Plugins()[0].Path != path {
				t.Fatalf("got %d plugins: %v", n, pluginNames(set))
			}
			if tt.problem != "" {
				wantProblem(t, set.Plugins()[0].Problem(), "", tt.problem)
				return
			}
			wantNames(t, toolNames(set), "Alone")
			wantCall(t, tool(t, set, "Alone"), "ok")
		})
	}
	dir := filepath.Join(t.TempDir(), "all.wasm") // a directory, whatever its name
	folder(t, dir, "alone", toml, ok)
	wantNames(t, toolNames(open(t, plugins.Options{}, plugins.Dir(plugins.OriginFlag, dir))), "Alone")
	_, err := plugins.Open(plugins.Options{Sources: []plugins.Source{plugins.Dir(plugins.OriginFlag, "missing.wasm")}})
	wantProblem(t, err, "", "looking for plugins in missing.wasm", "not exist")
}

func TestOpenFollowsALinkedFolder(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix) // making links needs a privilege on Windows
	dir := t.TempDir()
	target := folder(t, t.TempDir(), "linked", manifest("linked", "", "Linked"), fixture(t, "ok"))
	for name, to := range map[string]string{"here": target, "loop": "loop", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	set := open(t, plugins.Options{}, user(dir))
	wantNames(t, pluginNames(set), "linked")
	wantCall(t, tool(t, set, "Linked"), "ok")
}

func TestOpenMissingDirectories(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, []byte("x"))
	for _, origin := range []plugins.Origin{plugins.OriginUser, plugins.OriginProject} {
		if set := open(t, plugins.Options{}, plugins.Dir(origin, missing)); len(set.Plugins()) != 0 {
			t.Errorf("%s: found %v in a directory that is missing", origin, pluginNames(set))
		}
	}
	for name, dir := range map[string]string{"missing": missing, "a file": file} {
		_, err := plugins.Open(plugins.Options{Sources: []plugins.Source{plugins.Dir(plugins.OriginFlag, dir)}})
		wantProblem(t, err, "", "looking for plugins in "+dir)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOpenPassesOverAnUnreadableUserDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, []byte("x"))
	dir := t.TempDir()
	folder(t, dir, "good", manifest("good", "", "Good"), fixture(t, "ok"))
	var log bytes.Buffer
	set := open(t, plugins.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, user(file), plugins.Dir(plugins.OriginFlag, dir))
	wantNames(t, toolNames(set), "Good")
	if !strings.Contains(log.String(), file) {
		t.Errorf("the log does not name %s: %s", file, log.String())
	}
}

func TestOpenRefusesADirectoryWithTooManyEntries(t *testing.T) {
	t.Parallel()
	files := make(fstest.MapFS)
	for i := range 10_001 {
		files[strconv.Itoa(i)] = &fstest.MapFile{}
	}
	_, err := plugins.Open(plugins.Options{Sources: []plugins.Source{{Origin: plugins.OriginFlag, Path: "crowd", FS: files}}})
	wantProblem(t, err, "", "looking for plugins in crowd: it has more than 10000 entries")
}

// Each of these lies beside a plugin that must work all the same.
func TestOpenIsNotStoppedByABrokenPlugin(t *testing.T) {
	t.Parallel()
	ok := fixture(t, "ok")
	tests := map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"not TOML": {func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "bad", "name = ", ok)
		}, "line 1"},
		"empty manifest": {func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "bad", "", ok)
		}, "a plugin offers at least one tool"},
		"oversized manifest": {func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "bad", strings.Repeat("#", 1<<20+1), ok)
		}, "plugin.toml is over the limit of 1MiB"},
		"no module": {func(t *testing.T, dir string) {
			t.Helper()

			write(t, filepath.Join(dir, "bad", abi.ManifestFile), []byte(manifest("bad", "", "Bad")))
		}, "its module bad.wasm is not there; build the plugin first"},
		"module that is a folder": {func(t *testing.T, dir string) {
			t.Helper()

			write(t, filepath.Join(dir, "bad", abi.ManifestFile), []byte(manifest("bad", "", "Bad")))
			write(t, filepath.Join(dir, "bad", "bad.wasm", "x"), nil)
		}, "bad.wasm is not a regular file"},
		"manifest that is a folder": {func(t *testing.T, dir string) {
			t.Helper()

			write(t, filepath.Join(dir, "bad", abi.ManifestFile, "x"), nil)
		}, "plugin.toml is not a regular file"},
		"not Wasm": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "bad.wasm"), []byte("#!/bin/sh\n"))
		}, "not a WebAssembly module"},
		"empty file": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "bad.wasm"), nil)
		}, "0 bytes are not a WebAssembly module"},
		"truncated": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "bad.wasm"), ok[:len(ok)-3])
		}, "the module is truncated"},
		"component": {func(t *testing.T, dir string) {
			t.Helper()

			write(t, filepath.Join(dir, "bad.wasm"), []byte("\x00asm\x0d\x00\x01\x00"))
		}, "component"},
		"no manifest": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "bad.wasm"), ok)
		}, "carries no manifest"},
		"single names another": {func(t *testing.T, dir string) {
			t.Helper()

			single(t, dir, "bad.wasm", manifest("bad", `module = "x.wasm"`, "Bad"), ok)
		}, `must not name another one (module = "x.wasm")`},
		"unknown ABI": {func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "bad", manifest("bad", `abi = "wasi"`, "Bad"), ok)
		}, `"wasi" is not a value it can have`},
		"ABI without a runner": {func(t *testing.T, dir string) {
			t.Helper()
			folder(t, dir, "bad", manifest("bad", `abi = "extism"`, "Bad"), ok)
		}, `it needs the ABI "extism"; this host runs toolquay:host/1`},
		"unknown capabilities": {func(t *testing.T, dir string) {
			t.Helper()

			folder(t, dir, "bad", manifest("bad", "[[capabilities]]\nname = \"fs.format\"\n[[capabilities]]\nname = \"fs.read\"\n[[capabilities]]\nname = \"world.end\"\n", "Bad"), ok)
		}, `capabilities this host does not have ("fs.format", "world.end"); it has fs.read`},
		"closed capabilities": {func(t *testing.T, dir string) {
			t.Helper()

			folder(t, dir, "bad", manifest("bad", "[[capabilities]]\nname = \"session.plan\"\n[[capabilities]]\nname = \"fs.read\"\n[[capabilities]]\nname = \"team.send\"\n", "Bad"), ok)
		}, "capabilities that only tools in the box may have (session.plan, team.send)"},
		"missing configuration": {func(t *testing.T, dir string) {
			t.Helper()

			folder(t, dir, "bad", manifest("bad", "[[config]]\nname = \"url\"\ndescription = \"where to ask\"\nrequired = true\n", "Bad"), ok)
		}, `its configuration value "url" (where to ask) is required and not set`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder(t, dir, "good", manifest("good", "", "Good"), ok)
			tt.make(t, dir)
			set := open(t, plugins.Options{}, user(dir))
			p := plugin(t, set, "bad")
			wantProblem(t, p.Problem(), "", tt.want)
			wantNames(t, toolNames(set), "Good")
			wantCall(t, tool(t, set, "Good"), "ok")
		})
	}
}

func TestOpenTellsOfAnUnreadablePlugin(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.BoundByPermissions(t)
	dir := t.TempDir()
	folder(t, dir, "good", manifest("good", "", "Good"), fixture(t, "ok"))
	file := filepath.Join(folder(t, dir, "no-file", manifest("no-file", "", "A"), nil), abi.ManifestFile)
	locked := folder(t, dir, "no-folder", manifest("no-folder", "", "B"), nil)
	for _, path := range []string{file, locked} {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	set := open(t, plugins.Options{}, user(dir))
	wantNames(t, toolNames(set), "Good")
	wantProblem(t, plugin(t, set, "no-file").Problem(), "", "permission denied")
	wantProblem(t, plugin(t, set, "no-folder").Problem(), "", "permission denied")
}

func TestOpenCompilesNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 1000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			dir, ok := t.TempDir(), fixture(t, "ok")
			for i := range n {
				name := fmt.Sprintf("p%d", i)
				if i%2 == 0 {
					folder(t, dir, name, manifest(name, wantsRead, fmt.Sprintf("T%d", i)), ok)
				} else {
					single(t, dir, name+".wasm", manifest(name, "", fmt.Sprintf("T%d", i)), ok)
				}
			}
			runner, o := counting()
			// 0.2 ms a plugin without the race detector.
			var set *plugins.Set
			testenv.InTime(t, time.Duration(n)*20*time.Millisecond, func() time.Duration {
				took := testenv.Took(func() { set = open(t, o, user(dir)) })
				t.Logf("%d plugins in %s", n, took)
				return took
			})
			if got := len(set.Tools()); got != n {
				t.Errorf("found %d tools, want %d", got, n)
			}
			if got := runner.loads.Load(); got != 0 {
				t.Errorf("compiled %d modules before any call", got)
			}
			for range 2 {
				wantCall(t, tool(t, set, "T1"), "")
			}
			if got := runner.loads.Load(); got != 1 {
				t.Errorf("compiled %d modules for two calls of one plugin", got)
			}
		})
	}
}
