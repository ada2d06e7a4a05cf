package mcpclients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// installAll installs what all clients need, side by side: most of the time is the network's.
func installAll(t *testing.T) {
	t.Helper()
	t.Run("install", func(t *testing.T) {
		for name, install := range map[string]func(*testing.T) string{"modern": modern, "classic": classic, "node": node} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				install(t)
			})
		}
	})
}

// modern and classic are interpreters of Python with the packages of their files.
var modern, classic = python("modern"), python("classic")

// python has the packages of a file of testdata/python in an environment of their own, and
// returns its interpreter.
func python(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		dir, pins := filepath.Join(environments(), name), filepath.Join("testdata", "python", name+".txt")
		interpreter := filepath.Join(dir, "bin", "python")
		install(t, pins, filepath.Join(dir, "installed"), [][]string{
			{testenv.NeedTool(t, "python3"), "-m", "venv", "--clear", dir},
			{interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary", ":all:", "-r", pins},
		})
		return interpreter
	}
}

// environments is where those of Python are; they cannot be moved once they are made.
func environments() string { return filepath.Join(testenv.CacheHome(), "mcp-clients") }

// node has the packages of testdata/node, a Node among them, and returns that.
func node(t *testing.T) string {
	t.Helper()
	const dir = "testdata/node"
	install(t, dir+"/package-lock.json", dir+"/node_modules/.installed", [][]string{
		{testenv.NeedTool(t, "npm"), "ci", "--no-audit", "--no-fund", "--prefix", dir},
	})
	return absolute(t, dir+"/node_modules/.bin/node")
}

// install runs commands, unless they were run for these very pins: mark is where that is noted.
func install(t *testing.T, pins, mark string, commands [][]string) {
	t.Helper()
	want, err := os.ReadFile(pins)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := os.ReadFile(mark); err == nil && string(done) == string(want) {
		return
	}
	for _, line := range commands {
		if out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", line, err, out)
		}
	}
	if err := os.WriteFile(mark, want, 0o600); err != nil {
		t.Fatal(err)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
