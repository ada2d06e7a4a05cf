package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns an interpreter that has the packages which the file pins names, all of them:
// nothing is resolved. They are in an environment with this name, which is kept from one run to
// the next and made anew when pins changes.
func Python(tb testing.TB, name, pins string) string {
	tb.Helper()
	// Environments cannot be moved once they are made.
	dir := filepath.Join(CacheHome(), "python", name)
	interpreter := filepath.Join(dir, "bin", "python")
	Install(tb, pins, filepath.Join(dir, "installed"), [][]string{
		{NeedTool(tb, "python3"), "-m", "venv", "--clear", dir},
		{interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary", ":all:", "-r", pins},
	})
	return interpreter
}

// PythonCache is where interpreters may keep what they compile of packages (PYTHONPYCACHEPREFIX).
func PythonCache() string { return filepath.Join(CacheHome(), "python", "compiled") }

// Install runs commands, unless they were run for these very pins: mark is the file in which
// that is noted.
func Install(tb testing.TB, pins, mark string, commands [][]string) {
	tb.Helper()
	want, err := os.ReadFile(pins)
	if err != nil {
		tb.Fatal(err)
	}
	if done, err := os.ReadFile(mark); err == nil && string(done) == string(want) {
		return
	}
	for _, line := range commands {
		if out, err := exec.CommandContext(tb.Context(), line[0], line[1:]...).CombinedOutput(); err != nil {
			tb.Fatalf("%q: %v\n%s", line, err, out)
		}
	}
	if err := os.WriteFile(mark, want, 0o600); err != nil {
		tb.Fatal(err)
	}
}
