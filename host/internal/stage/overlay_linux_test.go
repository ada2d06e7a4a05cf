package stage_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

// inNamespace is the environment variable that is set when the test runs again in its own
// namespaces.
const inNamespace = "STAGE_TEST_OVERLAY"

// realCommands run over a real overlay and in a plain directory.
var realCommands = []string{
	"echo made > new; mkdir -p n/m; echo x > n/m/f; ln -s m n/k; ln n/m/f n/g",
	"echo changed >> a; chmod 755 d/x; touch ro",
	"rm -r d; mkdir d; echo z > d/z",
	"mv a b; mv d e; mkdir d; mv e/x d/",
	"rm l; echo l > l; rm a; ln -s d a",
	"rm -r d; echo d > d; rm a; mkdir a; echo x > a/x",
	"mv a t; mv l a; mv t l; chmod 700 d; rmdir d/sub 2>/dev/null; rm -r d/sub",
	"mv d x; mv x d",
	"mkdir -p p/q; touch p/q/f; rm -r p; truncate -s 1M sparse; cp a A; rm a",
	"for i in 1 2 3 4 5 6 7 8 9; do mkdir -p many/$i; echo $i > many/$i/f; done; rm -r many/5; mv many/7 many/5",
}

// TestOverlay runs commands over a real overlay, applies their changes, and compares the result
// with that of the same commands in a plain directory. A tool also writes, through the mount.
func TestOverlay(t *testing.T) {
	t.Parallel()
	if os.Getenv(inNamespace) == "" {
		testenv.Permitted(t, testenv.Overlay)
		cmd := exec.CommandContext(t.Context(), "unshare", "-Urm", os.Args[0], "-test.v", "-test.run=^TestOverlay$")
		cmd.Env = append(os.Environ(), inNamespace+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestOverlay") {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	for i, command := range realCommands {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			want := t.TempDir()
			project(t, want)
			sh(t, want, command)
			sh(t, want, "echo tool > by-tool; mkdir -p deep/er; echo tool > deep/er/f")
			r := newRoom(t)
			project(t, r.work)
			time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
			layers, err := r.Layers([]string{r.work, filepath.Join(r.work, "d")})
			if err != nil || len(layers) != 1 {
				t.Fatal(layers, err)
			}
			l := layers[0]
			options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s,workdir=%s", l.Root, l.Upper, l.Work)
			at := t.TempDir()
			if err := unix.Mount("overlay", at, "overlay", 0, options); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			sh(t, at, command)
			if err := r.Scan(t.Context(), began, capability.Call{ID: "c"}); err != nil {
				t.Fatal(err)
			}
			mounted, err := os.Open(at)
			if err != nil {
				t.Fatal(err)
			}
			r.Mounted(l.Root, fmt.Sprintf("/proc/self/fd/%d", mounted.Fd()))
			r.stage("by-tool", "tool\n")
			r.stage("deep/er/f", "tool\n")
			if got, want := modes(t, at), modes(t, want); got != want {
				t.Errorf("mounted:\n%s\nwant:\n%s", got, want)
			}
			r.Mounted(l.Root, "")
			if err := mounted.Close(); err != nil {
				t.Error(err)
			}
			if err := unix.Unmount(at, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Apply(t.Context(), everything); err != nil {
				t.Fatal(err)
			}
			if got, want := modes(t, r.work), modes(t, want); got != want {
				t.Errorf("applied:\n%s\nwant:\n%s", got, want)
			}
			r.emptied()
		})
	}
}

func sh(t *testing.T, dir, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "umask 022; "+command)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}
