//go:build amd64 || arm64

package shell_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// undoing is the state of a host that runs a command that changes a tree, and undoes it, again and again.
const undoing = "undoing"

// changing is the script that changes a tree of [fill].
const changing = `sed -i s/was/is/ f*; mv d moved; for f in moved/*; do echo more >> $f; done; rm -r r; chmod 700 moved; ln -sf f1 l
mkdir d; for i in 1 2 3 4 5 6 7 8 9; do echo new > d/g$i; mv f$i n$i; done; mv -f n1 f2; head -c 100000 /dev/urandom > large`

// fill makes the tree.
func fill(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"d", "r/deep", "empty"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		for _, lead := range []string{"f", "d/g", "r/deep/h"} {
			if err := os.WriteFile(fmt.Sprint(dir, "/", lead, i), []byte(fmt.Sprint("it was ", lead, i, strings.Repeat("x", i*1000))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(os.WriteFile(dir+"/change.sh", []byte(changing), 0o644), os.WriteFile(dir+"/large", make([]byte, 3<<20), 0o600), os.Symlink("nowhere", dir+"/l")); err != nil {
		t.Fatal(err)
	}
}

// runUndoing changes and undoes until the process is killed.
func runUndoing() {
	root := os.Getenv(rootName)
	s := setup{host: options(root), session: host.SessionOptions{ID: "mine", Cwd: root + "/work"}}
	s.host.Storage.Sessions = root + "/sessions"
	s.host.Shell.Supervisor = []string{"/proc/self/exe", root}
	ctx := context.Background()
	h, err := host.Open(ctx, s.host)
	if err != nil {
		panic(err)
	}
	session, err := h.NewSession(s.session)
	if err != nil {
		panic(err)
	}
	session.Results(ctx, []abi.ToolUse{use(0, "Bash", input{"command": "true"})})
	fmt.Println("there")
	for n := int32(1); ; n++ {
		r := session.Results(ctx, []abi.ToolUse{use(n, "Bash", input{"command": "bash change.sh"})})[0]
		if len(r.Structured) == 0 {
			panic(r.Text())
		}
		if _, err := session.History().Restore(ctx, host.HistorySelection{Call: fmt.Sprint("c", n)}, host.RestoreOptions{}); err != nil {
			panic(err)
		}
	}
}

// TestUndoneAfterKill kills hosts at random moments: while a command changes files, while its changes are recorded, and
// while they are undone. A restore afterwards must bring back the whole tree.
func TestUndoneAfterKill(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bash")
	testenv.NeedTool(t, "bwrap")
	for i := range testenv.Sample(40) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			if err := os.Mkdir(root+"/work", 0o755); err != nil {
				t.Fatal(err)
			}
			fill(t, root+"/work")
			before := testenv.Tree(t, root+"/work")
			changed := "" // half of them may be killed before anything was changed
			if i%2 == 0 {
				changed = root + "/work/moved"
			}
			killUndoing(t, root, changed, rand.N(1500*time.Millisecond))
			killed := testenv.Tree(t, root+"/work")
			h := host.OpenHistory(root+"/sessions/mine/"+host.HistoryDir, host.HistoryOptions{})
			defer h.Close()
			_, err := h.Restore(t.Context(), host.HistorySelection{}, host.RestoreOptions{})
			if err != nil && !strings.Contains(err.Error(), "holds no such write") {
				t.Fatal(err)
			}
			after := testenv.Tree(t, root+"/work")
			maps.DeleteFunc(after, func(path, _ string) bool { return strings.HasPrefix(filepath.Base(path), ".toolquay-") }) // left by the kill
			if d := testenv.TreeDiff(before, after); d != "" {
				t.Errorf("restored it is not as before:\n%s\nand when killed it was:\n%s", d, testenv.TreeDiff(before, killed))
			}
		})
	}
}

// killUndoing kills a host some time after it began, or after a file was there that its command makes.
func killUndoing(t *testing.T, root, made string, after time.Duration) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "TMPDIR="+root, stateName+"="+undoing, rootName+"="+root, cacheName+"="+testenv.CompileCache())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "there\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for began := time.Now(); made != ""; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(made); err == nil {
			break
		}
		if time.Since(began) > testenv.Patience {
			t.Error("nothing was changed")
			break
		}
	}
	time.Sleep(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
	mark(root).none(t, nil, gone)
}
