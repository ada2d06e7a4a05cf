//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// holderVariable makes the test program hold placeholders until its input ends: as
// another process, to be killed.
const holderVariable = "TOOLQUAY_TEST_SANDBOX_HOLDER"

// supervisors have what tests run by way of the sandbox.
var supervisors = process.New(process.Options{})

func TestMain(m *testing.M) {
	process.Main() // returns, unless this process was started as a supervisor
	if root := os.Getenv(holderVariable); root != "" {
		hold(root)
		return
	}
	if setting := os.Getenv(hostVariable); setting != "" {
		if err := beHost(setting); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(confineVariable) != "" {
		fmt.Println(sandbox.Exec(os.Args[1:], os.Environ()))
		os.Exit(1)
	}
	testenv.Waiting()
	os.Exit(m.Run())
}

func hold(root string) {
	s, report := sandbox.Find(context.Background(), sandbox.Options{State: root + "/state"})
	if s == nil {
		fmt.Println(report)
		return
	}
	w, err := s.Wrap(context.Background(), absent(root), []string{"true"})
	fmt.Println("held", err)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is closed
	_ = w.Close()
	_ = s.Close()
}

// absent has a name that is not there, and a folder.
func absent(root string) sandbox.Spec {
	return sandbox.Spec{Writable: []string{root + "/w"}, Protected: under(root, "w/.bashrc", "w/.vscode/"), Cwd: root + "/w"}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestPlaceholdersAreShared(t *testing.T) {
	root := tree(t, "w/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	first, err := s.Wrap(t.Context(), absent(root), []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Wrap(t.Context(), absent(root), []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root + "/w/.vscode/settings.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("who looks for something in a folder that is not there is told %v", err)
	}
	for _, w := range []*sandbox.Wrapped{first, second} {
		for _, path := range under(root, "w/.bashrc", "w/.vscode") {
			if !exists(path) {
				t.Errorf("%s is gone", path)
			}
		}
		for range 2 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	noLeftovers(t, root+"/w")
	if exists(root+"/w/.bashrc") || exists(root+"/w/.vscode") {
		t.Error("placeholders are left")
	}
}

// What others put in the place of a placeholder is theirs.
func TestPlaceholdersTakeNothingWithThem(t *testing.T) {
	root := tree(t, "w/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	w, err := s.Wrap(t.Context(), absent(root), []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(root + "/w/.bashrc"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/w/.bashrc", []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root+"/w/.vscode", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if !exists(root+"/w/.bashrc") || !exists(root+"/w/.vscode") {
		t.Error("what was not ours is gone")
	}
}

func TestConcurrentSandboxes(t *testing.T) {
	root := tree(t, "w/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			out, err := run(t, s, absent(root), []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
				fmt.Sprintf(`echo x > n%d; echo x > .bashrc; rm -rf .bashrc .vscode; mkdir .vscode/x`, i))
			if err == nil || strings.Contains(out, "bwrap:") || strings.Count(out, "Permission denied") != 2 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	noLeftovers(t, root+"/w")
	if exists(root+"/w/.bashrc") || exists(root+"/w/.vscode") {
		t.Error("placeholders are left")
	}
}

// startHolder starts a process that holds placeholders.
func startHolder(t *testing.T, root string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+root)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 200)
	n, _ := out.Read(said)
	if string(said[:n]) != "held <nil>\n" {
		t.Fatalf("it said %q", said[:n])
	}
	return cmd
}

func TestPlaceholdersOfTheDead(t *testing.T) {
	root := tree(t, "w/f")
	find(t, sandbox.Options{State: root + "/state"}) // where there is no sandbox nothing is tested
	holder := startHolder(t, root)
	if s := find(t, sandbox.Options{State: root + "/state"}); s == nil || !exists(root+"/w/.bashrc") {
		t.Error("what a living process holds was removed")
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	if !exists(root + "/w/.bashrc") {
		t.Fatal("there is nothing to clear up")
	}
	find(t, sandbox.Options{State: root + "/state"})
	if exists(root+"/w/.bashrc") || exists(root+"/w/.vscode") {
		t.Error("what a dead process held is left")
	}
	if left, err := filepath.Glob(root + "/state/journals/*"); err != nil || len(left) > 0 {
		t.Errorf("journals are left: %v, %v", left, err)
	}
}

func TestPlaceholdersOfTwoProcesses(t *testing.T) {
	root := tree(t, "w/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	holder := startHolder(t, root)
	out, _ := run(t, s, absent(root), []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, `echo x > .bashrc`)
	if !strings.Contains(out, "Permission denied") || !exists(root+"/w/.bashrc") {
		t.Errorf("the other's placeholder was not kept: %s", out)
	}
	_ = holder.Process.Kill() // a started process; Wait tells
	_ = holder.Wait()
	run(t, s, absent(root), []string{"PATH=/usr/bin:/bin"}, `true`)
	if !exists(root + "/w/.bashrc") {
		return
	}
	// Who comes next finds the dead.
	find(t, sandbox.Options{State: root + "/state"})
	if exists(root + "/w/.bashrc") {
		t.Error("a dead process's placeholder is left")
	}
}
