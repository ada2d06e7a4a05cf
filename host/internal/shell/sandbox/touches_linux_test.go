//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// told is a handler that notes all reports, with paths relative to dir.
type told struct {
	dir string
	mu  sync.Mutex
	all []string
	// look is what Begin got, and looked is called for each path that is touched.
	look   func(path string) (*os.File, error)
	looked func(path string)
}

func (h *told) add(words ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, w := range words {
		words[i] = strings.TrimPrefix(w, h.dir+"/")
	}
	h.all = append(h.all, strings.Join(words, " "))
}

func (h *told) Begin(look func(path string) (*os.File, error)) { h.look = look }

func (h *told) Touch(path string, fresh bool) {
	if fresh {
		h.add("fresh", path)
		return
	}
	h.add("touch", path)
	if h.looked != nil {
		h.looked(path)
	}
}

func (h *told) Rename(from, to string, exchange bool) {
	if exchange {
		h.add("exchange", from, to)
		return
	}
	h.add("rename", from, to)
}
func (h *told) Link(from, to string) { h.add("link", from, to) }
func (h *told) Missed(err error)     { h.add("missed", err.Error()) }

// runTold runs shell text whose changes are reported to h.
func runTold(tb testing.TB, s *sandbox.Sandbox, spec sandbox.Spec, text string, h *told) (string, error) {
	tb.Helper()
	w, err := s.Wrap(tb.Context(), spec, []string{"bash", "-c", text})
	if err != nil {
		tb.Fatal(err)
	}
	out, err := outputTold(tb, w, h)
	if err := w.Close(); err != nil {
		tb.Error(err)
	}
	return out, err
}

func outputTold(tb testing.TB, w *sandbox.Wrapped, h *told) (string, error) {
	tb.Helper()
	file, err := os.Create(filepath.Join(tb.TempDir(), "output"))
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), testenv.Patience)
	defer cancel()
	p, err := supervisors.Start(ctx, process.Command{
		Path: w.Inside, Args: w.Args, Env: plainly, Dir: w.Dir, Program: w.Program, In: w.In, Files: []*os.File{nil, file, file},
	})
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { p.Stop(0) })()
	err = w.Release(ctx, p.Pid())
	if err == nil {
		err = w.Tell(h)
	}
	if err != nil {
		p.Stop(0)
	}
	<-p.Gone()
	out, fault := os.ReadFile(file.Name())
	if fault != nil {
		tb.Fatal(fault)
	}
	return string(out), err
}

// teller returns a sandbox that reports changes, and a specification that asks for that.
func teller(tb testing.TB, names ...string) (*sandbox.Sandbox, sandbox.Spec) {
	tb.Helper()
	root := tree(tb, append(names, "w/f", "w/sub/f", "w/.npmrc", "t/f", "o/f")...)
	s := find(tb, sandbox.Options{State: root + "/state"})
	if !s.Tells() {
		testenv.Missing(tb, "no command tells what it changes here")
	}
	return s, sandbox.Spec{
		Writable: under(root, "w", "o"), Temp: root + "/t", Cwd: root + "/w", Protected: under(root, "w/.npmrc"), Touches: under(root, "w"),
	}
}

func TestTells(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cat f sub/f > /dev/null; ls -l; test -e f; (exec 3<f)": "",
		"echo x > new":                          "touch new",
		"set -C; echo x > new; ! echo x > f":    "fresh new",
		"echo x >> f; : > f":                    "touch f; touch f",
		"mkdir d; rmdir d":                      "fresh d; touch d",
		"mv f g":                                "rename f g",
		"mv sub new && echo x > new/f":          "rename sub new; touch new/f",
		"ln f g":                                "link f g",
		"ln -s f g; echo x > g":                 "fresh g; touch f",
		"ln -s sub via; echo x > via/n":         "fresh via; touch sub/n",
		"ln -s none g; echo x > g":              "fresh g; touch none",
		"ln -s $PWD/sub/../sub/f g; echo x > g": "fresh g; touch sub/f",
		"rm f; rm -r sub":                       "touch f; touch sub/f; touch sub",
		"chmod 600 f":                           "touch f",
		"cd sub; echo x > ../f; cd ..; echo x > ./sub//f":                            "touch f; touch sub/f",
		"exec 3<f; echo x > /dev/fd/3; echo x > /proc/self/fd/3":                     "touch f; touch f",
		"echo x > /proc/$$/cwd/new":                                                  "missed a file was named by a link of /proc",
		"echo x > /proc/self/cwd/new; rm /proc/self/cwd/sub/f":                       "touch new; touch sub/f",
		"echo x > /dev/stderr; echo x > /dev/null; echo x > /tmp/t; echo x > ../o/f": "",
		"truncate -s 0 f":                      "touch f",
		"mkfifo p":                             "fresh p",
		"! echo x > .npmrc; ! echo x > /usr/f": "",
		"echo x > $'\\xff\\xfe'":               "touch \xff\xfe",
		"mkdir -p a/b/c; echo x > a/b/c/d; mv a/b/c c; echo y > c/d": "fresh a; fresh a/b; fresh a/b/c; touch a/b/c/d; rename a/b/c c; touch c/d",
		"! rm none; ! mv none f":                                     "touch none",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			s, spec := teller(t)
			h := &told{dir: spec.Cwd}
			out, err := runTold(t, s, spec, text, h)
			if got := strings.Join(h.all, "; "); err != nil || got != want {
				t.Errorf("told %q; want %q; %v\n%s", got, want, err, out)
			}
		})
	}
}

// TestTellsOfDescriptors reports calls that use descriptors of directories, as Python makes them, and calls of threads.
func TestTellsOfDescriptors(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	s, spec := teller(t)
	h := &told{dir: spec.Cwd}
	out, err := runTold(t, s, spec, `exec python3 - <<'END'
import os, threading
d = os.open("sub", os.O_RDONLY)
os.close(os.open("n", os.O_WRONLY | os.O_CREAT, dir_fd=d))
os.rename("n", "m", src_dir_fd=d, dst_dir_fd=d)
os.link("m", "l", src_dir_fd=d, dst_dir_fd=d)
os.symlink("x", "s", dir_fd=d)
os.unlink("l", dir_fd=d)
os.mkdir("d", dir_fd=d)
g = os.open("f", os.O_RDONLY); os.fchmod(g, 0o600)
os.truncate("f", 1)
def work(i):
    for j in range(50):
        with open("t%d-%d" % (i, j), "w") as f: f.write("x")
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
END`, h)
	if err != nil {
		t.Fatal(err, out)
	}
	want := []string{"touch sub/n", "rename sub/n sub/m", "link sub/m sub/l", "fresh sub/s", "touch sub/l", "fresh sub/d", "touch f", "touch f"}
	if len(h.all) != len(want)+200 || !slices.Equal(h.all[:len(want)], want) {
		t.Errorf("told %d: %q\n%s", len(h.all), h.all[:min(len(h.all), 12)], out)
	}
	for i := range 4 {
		for j := range 50 {
			if name := fmt.Sprintf("touch t%d-%d", i, j); !slices.Contains(h.all, name) {
				t.Errorf("it did not tell %s", name)
			}
		}
	}
}

// TestTellsWhenItWaited: a sandbox that was waiting for a command reports like one that is started for it.
func TestTellsWhenItWaited(t *testing.T) {
	t.Parallel()
	s, spec := teller(t)
	for began := time.Now(); calls.Waits && len(s.Waiting(nil)) == 0; time.Sleep(time.Millisecond) {
		if out, err := runTold(t, s, spec, "true", &told{}); err != nil || time.Since(began) > testenv.Patience {
			t.Fatal(err, out)
		}
	}
	h := &told{dir: spec.Cwd}
	if out, err := runTold(t, s, spec, "echo x > new; mv new f", h); err != nil || strings.Join(h.all, "; ") != "touch new; rename new f" {
		t.Errorf("told %q; %v\n%s", h.all, err, out)
	}
}

// TestTellingEnds kills a command while its calls wait: nothing hangs.
func TestTellingEnds(t *testing.T) {
	t.Parallel()
	s, spec := teller(t)
	h := &told{dir: spec.Cwd}
	h.mu.Lock() // so that no call continues
	w, err := s.Wrap(t.Context(), spec, []string{"bash", "-c", "echo x > new & echo x > other & wait"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := supervisors.Start(t.Context(), process.Command{Path: w.Inside, Args: w.Args, Env: plainly, Dir: w.Dir, Program: w.Program, In: w.In})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Release(t.Context(), p.Pid()); err != nil {
		t.Fatal(err)
	}
	if err := w.Tell(h); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // by then it waits; if not, it is killed earlier
	p.Stop(0)
	select {
	case <-p.Gone():
	case <-time.After(testenv.Patience):
		t.Fatal("it cannot be killed while it waits")
	}
	h.mu.Unlock()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestTellsWhatLiesThere replaces a directory by a link to a hidden one, between a call and the look at its path:
// look finds nothing behind links, and no hidden file.
func TestTellsWhatLiesThere(t *testing.T) {
	t.Parallel()
	s, spec := teller(t, "secret/f", "w/sub/hidden")
	root := filepath.Dir(spec.Cwd)
	spec.Hidden = under(root, "secret/f", "w/sub/hidden")
	var faults []string
	h := &told{dir: spec.Cwd}
	finds := func(path string) string {
		f, err := h.look(path)
		if err != nil {
			return err.Error()
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err.Error()
		}
		return info.Mode().Type().String()
	}
	h.looked = func(path string) {
		if filepath.Base(path) != "f" {
			return
		}
		got := []string{finds(path)}
		sub := filepath.Dir(path)
		for _, step := range []func() error{
			func() error { return os.Rename(sub, sub+".moved") },
			func() error { return os.Symlink(root+"/secret", sub) },
		} {
			if err := step(); err != nil {
				faults = append(faults, err.Error())
			}
		}
		got = append(got, finds(path), finds(sub), finds(root+"/secret/f"), finds(root+"/secret"), finds(spec.Cwd+"/.npmrc"), finds(spec.Cwd+"/none"), finds(sub+".moved/hidden"))
		want := []string{
			"----------", "too many levels of symbolic links", "L---------", "permission denied", "permission denied", "permission denied", "no such file or directory", "Dc---------", // its mask was moved along
		}
		for i := range want {
			if got[i] != want[i] {
				faults = append(faults, fmt.Sprintf("%d: found %q, want %q", i, got[i], want[i]))
			}
		}
	}
	if out, err := runTold(t, s, spec, "echo x > sub/f || true", h); err != nil || len(faults) > 0 || len(h.all) != 1 {
		t.Errorf("%q; %v %s; told %q", faults, err, out, h.all)
	}
	if _, err := h.look(spec.Cwd); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the command: %v", err)
	}
}
