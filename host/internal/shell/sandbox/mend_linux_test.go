//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// What somebody outside replaces while a command runs, as editors and git do when they save, is
// hidden and protected again, and the command goes on.
func TestMended(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/.env", "w/secrets/key", "w/.npmrc", "w/.git/config", "w/.git/hooks/pre-push", "t/copy")
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	w, err := s.Wrap(t.Context(), sandbox.Spec{
		Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w",
		Hidden: under(root, "w/.env", "w/secrets"), Protected: under(root, "w/.npmrc", "w/.git/hooks"),
		Copies: []sandbox.Copy{{Path: root + "/w/.git/config", Private: root + "/t/copy"}},
	}, []string{"bash", "-c", `until [ -e go ]; do sleep 0.01; done
cat .env secrets/key; echo x >> .npmrc; echo x >> .git/hooks/pre-push; cat .git/config; echo went on`})
	if err != nil {
		t.Fatal(err)
	}
	out := outputWhile(t, w, func(pid int) {
		for _, shell := range []string{
			"echo new > n && mv n .env", "rm -rf secrets && mkdir secrets && echo new > secrets/key",
			"echo new > n && mv n .npmrc", "mv .git/hooks h && cp -r h .git/hooks", "echo new > n && mv n .git/config",
		} {
			cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "bash"), "-c", shell)
			cmd.Dir = root + "/w"
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", shell, err, said)
			}
		}
		mounted(t, pid, under(root, "w/.env", "w/secrets", "w/.npmrc", "w/.git/hooks", "w/.git/config")...)
		saved(t, root+"/w/go")
	})
	if _, replaced := w.Changed(); !slices.Contains(replaced, root+"/w/.env") || !slices.Contains(replaced, root+"/w/.npmrc") {
		t.Errorf("it tells %q", replaced)
	}
	for _, want := range []string{
		"cat: .env: Permission denied", "cat: secrets/key: Permission denied", ".npmrc: Read-only file system",
		".git/hooks/pre-push: Read-only file system", "content of t/copy", "went on",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// A command that closes the folder around a file that is replaced does not keep it from being
// mounted again.
func TestMendedInAClosedFolder(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/p/.env", "w/p/.npmrc")
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	w, err := s.Wrap(t.Context(), sandbox.Spec{
		Writable: under(root, "w"), Cwd: root + "/w", Hidden: under(root, "w/p/.env"), Protected: under(root, "w/p/.npmrc"),
	}, []string{"bash", "-c", `chmod 0 p; touch shut; until [ -e go ]; do sleep 0.01; done
chmod 755 p; cat p/.env; echo x >> p/.npmrc; echo went on`})
	must(t, err)
	out := outputWhile(t, w, func(pid int) {
		eventually(t, "the closed folder", func() bool { return exists(root + "/w/shut") })
		saved(t, root+"/w/n1")
		saved(t, root+"/w/n2")
		must(t, os.Chmod(root+"/w/p", 0o755)) // as somebody who had it open before can
		must(t, os.Rename(root+"/w/n1", root+"/w/p/.env"))
		must(t, os.Rename(root+"/w/n2", root+"/w/p/.npmrc"))
		must(t, os.Chmod(root+"/w/p", 0))
		mounted(t, pid, under(root, "w/p/.env", "w/p/.npmrc")...)
		saved(t, root+"/w/go")
	})
	if !strings.Contains(out, "cat: p/.env: Permission denied") || !strings.Contains(out, "p/.npmrc: Read-only file system") || !strings.HasSuffix(out, "went on\n") {
		t.Errorf("it printed %s", out)
	}
}

// What a command made that was given up while it started is undone too: nothing held it back.
func TestMissingIsUndoneWithoutRelease(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	w, err := s.Wrap(t.Context(), sandbox.Spec{Writable: under(root, "w"), Cwd: root + "/w", Protected: under(root, "w/.bashrc", "w/.vscode")},
		[]string{"bash", "-c", "echo x > .bashrc; mkdir .vscode; echo x > .vscode/tasks.json; touch done; exec sleep 100"})
	must(t, err)
	p, err := supervisors.Start(t.Context(), process.Command{Path: w.Inside, Args: w.Args, Env: plainly, Dir: w.Dir, Program: w.Program, In: w.In})
	must(t, err)
	eventually(t, "the command", func() bool { return exists(root + "/w/done") })
	p.Stop(0)
	<-p.Gone()
	must(t, w.Close())
	for _, name := range []string{".bashrc", ".vscode"} {
		if exists(root + "/w/" + name) {
			t.Errorf("%s is left", name)
		}
	}
}

// mounted waits until something is mounted at each of some places, as a process sees them.
func mounted(t *testing.T, pid int, places ...string) {
	t.Helper()
	eventually(t, "all that is to be mounted again", func() bool {
		mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
		must(t, err)
		return !slices.ContainsFunc(places, func(place string) bool { return !strings.Contains(string(mounts), " "+place+" ") })
	})
}

// outputWhile is what a command prints that is released and watched, while something happens.
func outputWhile(t *testing.T, w *sandbox.Wrapped, happens func(pid int)) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := supervisors.Start(t.Context(), process.Command{
		Path: w.Inside, Args: w.Args, Env: plainly, Dir: w.Dir, Program: w.Program, In: w.In, Files: []*os.File{nil, file, file},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer context.AfterFunc(t.Context(), func() { p.Stop(0) })()
	if err := w.Release(t.Context(), p.Pid()); err != nil {
		t.Fatal(err)
	}
	watched := make(chan error, 1)
	go func() {
		watched <- w.Watch(context.Background(), func(l sandbox.Loss) {
			t.Errorf("it was lost: %+v", l)
			p.Stop(0)
		})
	}()
	happens(p.Pid())
	<-p.Gone()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := <-watched; err != nil {
		t.Error(err)
	}
	out, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
