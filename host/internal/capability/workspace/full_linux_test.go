package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// fullDisk is set in the environment of the process that fills a small disk.
const fullDisk = "TOOLQUAY_TEST_FULL_DISK"

// On a full disk the former content stays, and the error says what to do. The test
// runs itself in a sandbox that has a disk of 256 KiB.
func TestDraftFullDisk(t *testing.T) {
	if dir := os.Getenv(fullDisk); dir != "" {
		fill(t, dir)
		return
	}
	t.Parallel()
	bwrap, dir := testenv.NeedTool(t, "bwrap"), t.TempDir()
	cmd := exec.CommandContext(t.Context(), bwrap, "--dev-bind", "/", "/", "--size", "262144", "--tmpfs", dir,
		os.Args[0], "-test.v", "-test.run=^TestDraftFullDisk$")
	cmd.Env = append(os.Environ(), fullDisk+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the disk was full") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func fill(t *testing.T, dir string) {
	t.Helper()
	for _, set := range []func(*calls){func(*calls) {}, nameless} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("former"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := system
		set(&c)
		for _, path := range []string{"f", "new", "x/y/new"} {
			_, err := putWith(resolve(t, dir, path), c, strings.Repeat("content", 60_000))
			if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "make room") {
				t.Errorf("%s: %v", path, err)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || text(filepath.Join(dir, "f")) != "former" {
			t.Errorf("there is %v with %q, %v", entries, text(filepath.Join(dir, "f")), err)
		}
		// What was taken is given back: there is room for less.
		if _, err := putWith(resolve(t, dir, "f"), c, strings.Repeat("content", 30_000)); err != nil {
			t.Error(err)
		}
	}
	t.Log("the disk was full")
}
