//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// Commands share mounts that were made once. What changes between two of them has the next one
// find others.
func TestChangesBetweenCommands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ change, command, want string }{
		"saved":                     {"echo new > n && mv n .env", "cat .env", "cat: .env: Permission denied"},
		"moved away and made":       {"mv .env old; echo new > .env", "cat .env", "cat: .env: Permission denied"},
		"removed and made":          {"rm .env; echo new > .env", "cat .env", "cat: .env: Permission denied"},
		"a folder for a file":       {"rm .env; mkdir .env; echo new > .env/f", "cat .env/f", "cat: .env/f: Permission denied"},
		"made":                      {"echo new > later", "cat later", "cat: later: Permission denied"},
		"a hidden folder exchanged": {"mv secrets s; mkdir secrets; echo new > secrets/key", "cat secrets/key", "cat: secrets/key: Permission denied"},
		"a hidden folder made anew": {"mv secrets s; rm -rf s; mkdir secrets; echo new > secrets/key", "cat secrets/key", "cat: secrets/key: Permission denied"},
		"the folder around":         {"mv around a; mkdir around; echo new > around/key", "cat around/key", "cat: around/key: Permission denied"},
		"a link turned":             {"ln -sfn two via", "cat two/key one/key", "cat: two/key: Permission denied\ncontent of w/one/key"},
		"a protected file saved":    {"echo new > n && mv n .npmrc", "echo x >> .npmrc", ".npmrc: Read-only file system"},
		"a protected file made":     {"echo new > .bashrc", "echo x >> .bashrc", ".bashrc: Read-only file system"},
		"a protected folder":        {"mv .git/hooks h; mkdir .git/hooks", "touch .git/hooks/pre-push", "Read-only file system"},
		"the project":               {"cd ..; mv w v; mkdir -p w/.git; echo new > w/.env; cd w", "pwd -P > n && cat n; cat .env", "/w\ncat: .env: Permission denied"},
		"nothing":                   {"true", "cat f; cat .env", "content of w/f\ncat: .env: Permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/f", "w/.env", "w/secrets/key", "w/around/key", "w/one/key", "w/two/key", "w/.npmrc", "w/.git/hooks/f", "t/f")
			must(t, os.Symlink("one", root+"/w/via"))
			s := find(t, sandbox.Options{State: root + "/state"})
			spec := sandbox.Spec{
				Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w",
				Hidden:    under(root, "w/.env", "w/later", "w/secrets", "w/around/key", "w/via/key"),
				Protected: under(root, "w/.npmrc", "w/.bashrc", "w/.git/hooks"),
			}
			env := []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
			for range 2 {
				if out, err := run(t, s, spec, env, "cat .env 2>&1; echo x 2>&1 >> .npmrc; true"); err != nil || strings.Contains(out, "content") {
					t.Fatal(err, out)
				}
			}
			if s.Copies() {
				waitFor(t, s, spec, env)
			}
			cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "bash"), "-c", test.change)
			cmd.Dir = root + "/w"
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			out, _ := run(t, s, spec, env, test.command)
			if !strings.Contains(out, test.want) || strings.Contains(out, "new") {
				t.Errorf("got %s", out)
			}
		})
	}
}

// Commands begin while files are written to that are hidden and protected.
func TestFilesInUse(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/log", "w/.npmrc", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Hidden: under(root, "w/log"), Protected: under(root, "w/.npmrc")}
	written := make(chan error, 1)
	go func() {
		for {
			select {
			case <-t.Context().Done():
				written <- nil
				return
			default:
				if err := errors.Join(os.WriteFile(root+"/w/log", []byte("x"), 0), os.WriteFile(root+"/w/.npmrc", []byte("x"), 0)); err != nil {
					written <- err
					return
				}
			}
		}
	}()
	for range 5 {
		if out, err := run(t, s, spec, plainly, "cat log"); !strings.Contains(out, "Permission denied") {
			t.Errorf("got %q, %v", out, err)
		}
	}
	t.Cleanup(func() { must(t, <-written) })
}

// Each command has a proxy of its own, which makes no other mounts.
func TestProxiesShareMounts(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	for port := range 3 {
		spec := sandbox.Spec{Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Network: sandbox.NetworkHosts, ProxyPort: 4000 + port}
		if out, err := run(t, s, spec, plainly, "cat f"); err != nil {
			t.Fatal(err, out)
		}
	}
	if n := s.Templates(); n > 1 { // none is left when something was mounted outside
		t.Errorf("there are %d", n)
	}
}

// waitFor runs commands of a specification until a process waits for the next one. With the race
// detector none ever does.
func waitFor(tb testing.TB, s *sandbox.Sandbox, spec sandbox.Spec, env []string) []*process.Process {
	tb.Helper()
	if !s.Copies() {
		testenv.Missing(tb, "this machine lets nobody make namespaces but bubblewrap")
	}
	for began := time.Now(); calls.Waits; time.Sleep(time.Millisecond) {
		if list := s.Waiting(spec.Namespace); len(list) > 0 {
			return list
		}
		if time.Since(began) > testenv.Patience {
			tb.Fatal("no process waits")
		}
		if out, err := run(tb, s, spec, env, "true"); err != nil {
			tb.Fatal(err, out)
		}
	}
	return nil
}

// What the caller writes into its lists afterwards is another specification.
func TestListsOfTheCaller(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/a", "w/b", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	hidden := under(root, "w/a")
	spec := sandbox.Spec{Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Hidden: hidden}
	for name, want := range map[string]string{"a": "content of w/b\n", "b": "content of w/a\n"} {
		hidden[0] = root + "/w/" + name
		if out, _ := run(t, s, spec, plainly, "cat a b 2>/dev/null"); out != want {
			t.Errorf("%s is hidden: got %q", name, out)
		}
	}
}

// What a command has of its own no other one finds, though they share mounts.
func TestOwnOfEachCommand(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	for temp, own := range map[string]string{"": "/dev/shm /tmp", root + "/t": "/dev/shm"} {
		spec := sandbox.Spec{Writable: under(root, "w"), Temp: temp, Cwd: root + "/w"}
		for range 3 {
			out, err := run(t, s, spec, plainly, `for d in `+own+`; do ls -A $d | grep mine; echo mine > $d/mine; done; ls /dev/pts; ls -d /proc/[0-9]* | head -n 2`)
			if err != nil || out != "ptmx\n/proc/1\n/proc/2\n" {
				t.Errorf("got %v, %s", err, out)
			}
		}
	}
}

// While a sandbox is made somebody exchanges the folder around a working directory for another
// one, and back: what is hidden is so when the command begins, or the start fails.
func TestExchangedWhileMade(t *testing.T) {
	t.Parallel()
	names := []string{"p/w/.env", "q/w/.env", "t/f"}
	var protected []string // what takes a while to be mounted
	for i := range 100 {
		name := "p/w/f" + strconv.Itoa(i)
		protected, names = append(protected, name), append(names, name, "q"+name[1:])
	}
	root := tree(t, names...)
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	spec := sandbox.Spec{Writable: under(root, "p/w"), Temp: root + "/t", Cwd: "/", Hidden: under(root, "p/w/.env"), Protected: under(root, protected...)}
	ran := 0
	for began := time.Now(); time.Since(began) < 3*time.Second; {
		made, exchanged := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(exchanged)
			for i := 0; ; i++ {
				select {
				case <-made:
					if i%2 == 0 {
						return
					}
				case <-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond):
				}
				_ = unix.Renameat2(unix.AT_FDCWD, root+"/p", unix.AT_FDCWD, root+"/q", unix.RENAME_EXCHANGE)
			}
		}()
		out, err := onceStarted(t, s, spec, func() {
			close(made)
			<-exchanged
		}, "read -r; cat "+root+"/p/w/.env")
		switch {
		case strings.Contains(out, "content"):
			t.Fatalf("it is in sight after %d commands", ran)
		case err == nil:
			ran++
		case !errors.Is(err, sandbox.ErrChanged) && !errors.Is(err, sandbox.ErrSpec):
			t.Fatal(err)
		}
	}
	if out, err := run(t, s, spec, plainly, "cat "+root+"/p/w/.env"); !strings.Contains(out, "Permission denied") {
		t.Errorf("afterwards it printed %s, %v", out, err)
	}
	t.Logf("%d commands ran", ran)
}

// onceStarted is what a command prints that goes on with a line when something has been done.
func onceStarted(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, do func(), text string) (string, error) {
	t.Helper()
	done := sync.OnceFunc(do)
	defer done()
	w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", text})
	if err != nil {
		return "", err
	}
	defer func() { _ = w.Close() }() // nothing is undone
	in, line, err := os.Pipe()
	must(t, err)
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	must(t, err)
	defer func() { _, _, _ = in.Close(), line.Close(), out.Close() }()
	p, err := supervisors.Start(t.Context(), process.Command{Path: w.Inside, Args: w.Args, Env: plainly, Dir: w.Dir, Program: w.Program, In: w.In, Files: []*os.File{in, out, out}})
	done()
	if err != nil {
		return "", sandbox.Judge(err)
	}
	_, err = line.WriteString("\n")
	must(t, err)
	<-p.Gone()
	printed, err := os.ReadFile(out.Name())
	must(t, err)
	return string(printed), nil
}

// What is mounted outside between two commands the next one has, and what is unmounted it does not
// keep.
func TestMountsBetweenCommands(t *testing.T) {
	if os.Geteuid() != 0 {
		return // nobody else mounts here
	}
	root := tree(t, "w/f", "m/below", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Bind: []sandbox.Bind{{Source: root + "/m", Target: root + "/m"}}}
	lists := func(want string) {
		t.Helper()
		if out, err := run(t, s, spec, plainly, "ls "+root+"/m"); err != nil || out != want {
			t.Errorf("got %q, %v, want %q", out, err, want)
		}
	}
	lists("below\n")
	if err := unix.Mount("test", root+"/m", "tmpfs", 0, ""); err != nil {
		testenv.Missing(t, err.Error())
	}
	defer func() { _ = unix.Unmount(root+"/m", unix.MNT_DETACH) }() // it may be done
	must(t, os.WriteFile(root+"/m/above", nil, 0o644))
	lists("above\n")
	if s.Copies() {
		waitFor(t, s, spec, plainly)
	}
	if !ends(t, root+"/m", func() { must(t, unix.Unmount(root+"/m", 0)) }) {
		t.Error("it is still in use")
	}
	lists("below\n")
}

// A session ends while mounts change outside.
func TestEndWhileMountsChange(t *testing.T) {
	if os.Geteuid() != 0 {
		return // nobody else mounts here
	}
	root := tree(t, "w/f", "m/below", "t/f")
	s := find(t, sandbox.Options{State: root + "/state"})
	if !s.Copies() {
		testenv.Missing(t, "this machine lets nobody make namespaces but bubblewrap")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var changes sync.WaitGroup
	defer changes.Wait()
	defer cancel()
	changes.Go(func() {
		for ctx.Err() == nil && unix.Mount("test", root+"/m", "tmpfs", 0, "") == nil {
			_ = unix.Unmount(root+"/m", unix.MNT_DETACH) // seen by nobody
		}
	})
	for range 10 {
		n, err := s.NewNamespace(t.Context())
		must(t, err)
		w, err := s.Wrap(t.Context(), sandbox.Spec{Writable: under(root, "w"), Temp: root + "/t", Cwd: root + "/w", Namespace: n}, []string{"true"})
		if !errors.Is(err, sandbox.ErrChanged) {
			must(t, err)
			must(t, w.Close())
		}
		must(t, n.Close())
	}
}

// ends reports whether the file system at a path is in use no more soon after something is done.
func ends(t *testing.T, path string, do func()) bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	told := os.NewFile(uintptr(fd), "inotify")
	defer told.Close()
	_, err = unix.InotifyAddWatch(fd, path, unix.IN_MOVE_SELF) // of its end it is told in any case
	must(t, err)
	do()
	must(t, told.SetReadDeadline(time.Now().Add(testenv.Patience/3)))
	_, err = told.Read(make([]byte, unix.SizeofInotifyEvent))
	return err == nil
}
