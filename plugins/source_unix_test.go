//go:build unix

package plugins_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Opening a FIFO for reading waits for a writer, which never comes.
func TestOpenDoesNotWaitForAFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "good", manifest("good", "", "Good"), fixture(t, "ok"))
	mkfifo(t, filepath.Join(dir, "as-manifest", abi.ManifestFile))
	mkfifo(t, filepath.Join(dir, "as-file.wasm"))
	mkfifo(t, filepath.Join(dir, "neither"))
	write(t, filepath.Join(dir, "as-module", abi.ManifestFile), []byte(manifest("as-module", "", "Bad")))
	mkfifo(t, filepath.Join(dir, "as-module", "as-module.wasm"))
	within(t, func() {
		set := open(t, plugins.Options{}, user(dir))
		wantNames(t, pluginNames(set), "as-file", "as-manifest", "as-module", "good")
		wantNames(t, toolNames(set), "Good")
		for _, name := range []string{"as-manifest", "as-file", "as-module"} {
			wantProblem(t, plugin(t, set, name).Problem(), "", "is not a regular file")
		}
	})
}

func TestOpenDoesNotWaitForADirectoryThatIsAFIFO(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	mkfifo(t, fifo)
	within(t, func() {
		_, err := plugins.Open(plugins.Options{Sources: []plugins.Source{plugins.Dir(plugins.OriginFlag, fifo)}})
		wantProblem(t, err, "", "looking for plugins in "+fifo)
	})
}

// A device has no end.
func TestOpenRefusesADeviceAsModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.wasm")); err != nil {
		t.Fatal(err)
	}
	set := open(t, plugins.Options{}, user(dir))
	wantProblem(t, plugin(t, set, "zero").Problem(), "", "zero.wasm is not a regular file")
}

func TestOpenGrantsDoesNotWaitForAFIFO(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "consents.json")
	mkfifo(t, fifo)
	within(t, func() {
		_, err := plugins.OpenGrants(fifo)
		wantProblem(t, err, "", fifo, "not a regular file")
	})
}

func TestSchemaRefDoesNotTouchAFIFO(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "schema.json")
	mkfifo(t, fifo)
	for _, ref := range []string{"file://" + fifo, fifo} {
		within(t, func() {
			_, err := plugins.CompileSchema("T", `{"type":"object","properties":{"a":{"$ref":"`+ref+`"}}}`)
			wantProblem(t, err, "", "points outside the schema")
		})
	}
}
