package testenv

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// otherDisk is set, in the environment of a test that runs again with another disk, to where that is.
const otherDisk = "TOOLQUAY_TEST_DISK"

// SmallDisk runs the test again, in a process in which a disk of so many bytes is mounted: there it
// returns the directory. Elsewhere it returns nothing once that process has passed.
func SmallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	return mounted(t, func(dir string) []string {
		return []string{"--perms", "0700", "--size", strconv.Itoa(size), "--tmpfs", dir}
	})
}

// ReadOnlyDisk is like [SmallDisk] with a directory that was filled here, and in which nothing can be
// changed there, not by root either.
func ReadOnlyDisk(t *testing.T, fill func(dir string)) (dir string) {
	t.Helper()
	return mounted(t, func(dir string) []string {
		fill(dir)
		return []string{"--ro-bind", dir, dir}
	})
}

func mounted(t *testing.T, mount func(dir string) (bubblewrap []string)) string {
	t.Helper()
	bwrap := NeedTool(t, "bwrap")
	return again(t, func(dir string) []string { return append([]string{bwrap, "--dev-bind", "/", "/"}, mount(dir)...) })
}

// again runs the test again in a child, started by a program that mounts another disk on dir. It
// returns "" here, and the directory in the child.
func again(t *testing.T, by func(dir string) (program []string)) string {
	t.Helper()
	if dir := os.Getenv(otherDisk); dir != "" {
		return dir
	}
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // it is a directory, and private
		t.Fatal(err)
	}
	args := append(by(dir), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), otherDisk+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v:\n%s", err, out)
	}
	return ""
}

// OverlaidDisk is like [SmallDisk], but the directory has an overlay mounted over it.
func OverlaidDisk(t *testing.T) (dir string) {
	t.Helper()
	const script = `mount -t tmpfs none "$0" && cd "$0" && mkdir lower upper work && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr none "$0" && exec "$@"`
	unshare := NeedTool(t, "unshare")
	return again(t, func(dir string) []string {
		return []string{unshare, "--map-root-user", "--mount", "sh", "-c", script, dir}
	})
}
