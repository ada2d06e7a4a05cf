//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/test/place"
	"github.com/toolquay/toolquay/internal/testenv"
)

// findPartial is the partial sandbox of a machine that offers no whole one: there is no
// bubblewrap to be found, and this program does not try itself. In a place that offers none
// nothing has to be pretended.
func findPartial(tb testing.TB, o sandbox.Options) *sandbox.Sandbox {
	tb.Helper()
	o.Supervisors = supervisors
	if place.Here() == "" {
		o.Program = filepath.Join(tb.TempDir(), "bwrap")
	}
	s, report := sandbox.Find(tb.Context(), o)
	if s == nil || s.Confines() || report.Available || len(report.Reasons) == 0 {
		tb.Fatalf("got %+v", report)
	}
	if report.Kind != "landlock" {
		testenv.Missing(tb, "no Landlock: "+report.String())
	}
	return s
}

// What gets through a partial sandbox: by commands that may write, beside what changes
// protected names, and by those that only read. "perhaps" is what depends on the machine.
var (
	throughWriting = map[string]string{
		"mode and times": "yes", "a project's secrets": "yes", "a search": "yes", "through a hard link to it": "yes",
		"after moving it": "yes", "after moving its folder": "yes", "after moving the folder between": "yes", "after removing the mask": "yes",
	}
	throughAnyway = map[string]string{
		"seeing one outside": "yes", "a copy with a set-user-ID bit": "yes",
		"the homes of others": "perhaps", "a way out": "perhaps", "keys": "perhaps",
	}
)

// TestPartialHolds runs every escape alone: what is to get through does, and nothing else.
func TestPartialHolds(t *testing.T) {
	guarded := escapes.Guarded()
	for i, c := range escapes.Cases() {
		if !testenv.Thorough() && i%5 != 0 {
			continue
		}
		isCase := func(g escapes.Case) bool { return g.Shell == c.Shell }
		for _, readOnly := range []bool{false, true} {
			want := throughAnyway[c.Name]
			if !readOnly && slices.ContainsFunc(guarded, isCase) {
				want = "yes"
			} else if !readOnly && want == "" {
				want = throughWriting[c.Name]
			}
			t.Run(fmt.Sprintf("%s, reading only %v", c.Name, readOnly), func(t *testing.T) {
				t.Parallel()
				w := escapes.New(t)
				s := findPartial(t, sandbox.Options{State: w.State, Home: w.Home})
				if s.Landlock() < 6 && c.Name == "signalling one outside" {
					want = "yes"
				}
				tryPartial(t, s, w, c.Shell, readOnly, want)
			})
		}
	}
}

// tryPartial runs shell text, and compares what of it got through.
func tryPartial(t *testing.T, s *sandbox.Sandbox, w *escapes.World, shell string, readOnly bool, want string) {
	t.Helper()
	s.ShareNothing() // worlds lie in /tmp
	spec := specOf(w)
	spec.ReadOnly = readOnly
	out, err := run(t, s, spec, w.Env, shell+"\necho "+escapes.Ended)
	if !strings.Contains(out, escapes.Ended) {
		t.Errorf("it did not start: %v\n%s", err, out)
	}
	did := w.Verify(t, out)
	if through := len(did) > 0; want != "perhaps" && through != (want == "yes") {
		t.Errorf("to get through: %q; it did %q and printed:\n%s", want, did, out)
	}
}

// TestPartialByVersion runs what versions of Landlock differ in, and what the filter of
// system calls adds to all of them.
func TestPartialByVersion(t *testing.T) {
	t.Parallel()
	const (
		write    = `echo x >> "$OUTSIDE/kept"`
		read     = `cat "$WORK/.env"`
		cut      = `$PY -c 'import os; os.truncate(os.environ["OUTSIDE"] + "/kept", 0)'`
		mode     = `chmod 777 "$OUTSIDE/kept"`
		signal   = `kill -9 "$VICTIM"; for i in {1..2000}; do kill -0 "$VICTIM" || break; sleep 0.01; done`
		limits   = `$PY -c 'import os, resource; resource.prlimit(int(os.environ["VICTIM"]), resource.RLIMIT_NOFILE, (1, 1)); print("ESCAPED: limits")'`
		attr     = `$PY -c 'import os; os.setxattr(os.environ["OUTSIDE"] + "/kept", "user.x", b"x")' 2>&1 | grep -v -e "not supported" -e Traceback -e File || { [ "${PIPESTATUS[0]}" = 0 ] && echo "ESCAPED: attributes"; }`
		memory   = `$PY -c 'import ctypes; c = ctypes.CDLL(None); n = c.shmget(0, 4096, 0o1600); n >= 0 and (c.shmctl(n, 0, None), print("ESCAPED: memory"))'`
		move     = `mv "$WORK/main.go" "$WORK/n/" && echo "ESCAPED: not at all, but it moved"`
		socket   = `$PY -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ["OUTSIDE"] + "/docker.sock"); print(s.recv(100).decode())'`
		tcp      = `cat < "/dev/tcp/127.0.0.1/$TCP"`
		newUsers = `unshare -Ur true && echo "ESCAPED: a user namespace"`
	)
	for _, test := range []struct {
		version           int
		shell             string
		writing, readOnly string // what gets through
	}{
		{6, signal, "", ""}, {5, signal, "yes", "yes"},
		{3, cut, "", ""}, {2, cut, "yes", "yes"},
		{2, move, "yes", ""}, {2, write, "", ""}, {2, read, "yes", ""}, {2, mode, "yes", ""},
		{1, move, "yes", ""}, {1, write, "yes", ""}, {1, read, "yes", ""},
		{0, write, "yes", "yes"}, {0, read, "yes", "yes"}, {0, cut, "yes", "yes"}, {0, mode, "yes", ""}, {0, limits, "", ""}, {0, memory, "yes", ""},
		{0, attr, "perhaps", ""}, {0, socket, "", ""}, {0, tcp, "", ""}, {0, newUsers, "", ""},
	} {
		for readOnly, want := range map[bool]string{false: test.writing, true: test.readOnly} {
			t.Run(fmt.Sprintf("%d, %.30q, reading only %v", test.version, test.shell, readOnly), func(t *testing.T) {
				t.Parallel()
				w := escapes.New(t)
				s := findPartial(t, sandbox.Options{State: w.State, Home: w.Home})
				if s.Landlock() < test.version {
					return // this kernel's is older
				}
				s.SetLandlock(test.version)
				tryPartial(t, s, w, test.shell, readOnly, want)
			})
		}
	}
}

// TestPartialView shows what a specification names, and leaves out what it hides where nothing
// can be written.
func TestPartialView(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f", "w/.env", "w/deep/.env", "w/deep/g", "home/notes", "home/tool/f", "other/f", "open/f")
	must(t, os.Symlink("../home/tool", root+"/w/tool"))
	s := findPartial(t, sandbox.Options{State: root + "/state", Home: root + "/home"})
	s.ShareNothing()
	spec := sandbox.Spec{
		Writable: under(root, "w"), Visible: append(under(root, "home/tool"), "/usr", "/bin", "/lib", "/lib64", "/etc"), Cwd: root + "/w",
		Hidden: under(root, "w/.env", "w/deep/.env"), Bind: []sandbox.Bind{{Source: root + "/open/f", Target: root + "/open/f", Writable: true}},
	}
	const look = `cd "$ROOT"; for f in w/f w/.env w/deep/.env w/deep/g w/tool/f home/notes home/tool/f other/f open/f; do cat $f >/dev/null 2>&1 && echo -n "$f "; done
for f in w/new w/f home/new home/tool/f other/f open/f open/new; do (echo x >>$f) 2>/dev/null && echo -n "+$f "; done; ls w >/dev/null && (ls home || ls other) 2>&1 | grep -c denied; echo x >/dev/null`
	env := append(slices.Clone(plainly), "ROOT="+root)
	out, err := run(t, s, spec, env, look)
	if want := "w/f w/.env w/deep/.env w/deep/g w/tool/f home/tool/f open/f +w/new +w/f +open/f 2\n"; err != nil || out != want {
		t.Errorf("writing: got %q, %v; want %q", out, err, want)
	}
	spec.ReadOnly = true
	out, err = run(t, s, spec, env, look)
	if want := "w/f w/deep/g w/tool/f home/tool/f open/f 2\n"; err != nil || out != want {
		t.Errorf("reading only: got %q, %v; want %q", out, err, want)
	}
}

// TestPartialShares has what commands share with the machine, and with its network.
func TestPartialShares(t *testing.T) {
	t.Parallel()
	w := escapes.New(t)
	s := findPartial(t, sandbox.Options{State: w.State, Home: w.Home})
	spec := specOf(w)
	spec.Network = sandbox.NetworkAll
	file := filepath.Join("/tmp", filepath.Base(filepath.Dir(w.Work))+"-shared")
	out, err := run(t, s, spec, w.Env, `echo x > `+file+` && rm `+file+` && echo "in /tmp"; cat < "/dev/tcp/127.0.0.1/$TCP" >/dev/null && echo reached
$PY -c 'import multiprocessing as m; m.Lock()' && echo locked
cd "$WORK" && mkdir x && echo y > y && mv y x/ && ln x/y z && rm -r x z && echo moved; exec 3<>/dev/null && echo used`)
	if want := "in /tmp\nreached\nlocked\nmoved\nused\n"; out != want {
		t.Errorf("got %q, %v", out, err)
	}
	spec.ReadOnly = true
	if out, err = run(t, s, spec, w.Env, `(echo x > `+file+`) 2>/dev/null; cat < "/dev/tcp/127.0.0.1/$TCP" 2>&1 | grep -o "not supported"`); out != "" && !strings.Contains(out, "not supported") {
		t.Errorf("reading only: got %q, %v", out, err)
	}
}

// TestPartialBounds closes a directory with too many entries to grant them one by one.
func TestPartialBounds(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/many/.env", "w/f")
	for i := range 9000 {
		must(t, os.WriteFile(fmt.Sprintf("%s/w/many/%d", root, i), nil, 0o600))
	}
	s := findPartial(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Hidden: under(root, "w/many/.env"), Cwd: root + "/w", ReadOnly: true}
	out, err := run(t, s, spec, plainly, "cat f many/.env many/1 2>&1 | grep -c denied; ls many | wc -l")
	if err != nil || out != "2\n9000\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestWhereNoSandboxCanBeMade runs the tests of partial sandboxes where these are needed: as
// root and as an ordinary user of a user namespace that allows no further ones, and behind a
// filter that refuses them.
func TestWhereNoSandboxCanBeMade(t *testing.T) {
	if place.Here() != "" {
		return
	}
	tests := "^(TestPartialHolds|TestPartialView|TestReportOfAPlace)$"
	if testenv.Thorough() {
		tests = "^(TestPartial.*|TestReportOfAPlace)$"
	}
	for _, test := range []struct {
		place string
		user  int
	}{{place.NoUsers, 0}, {place.NoUsers, 1000}, {place.Filtered, 0}, {place.Filtered, 1000}} {
		t.Run(fmt.Sprintf("%s, user %d", test.place, test.user), func(t *testing.T) {
			t.Parallel()
			out, err := place.Run(t, test.place, test.user, tests)
			if err != nil || !strings.Contains(out, "--- PASS: TestPartialView") || !strings.Contains(out, "--- PASS: TestPartialHolds/") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestPartialWithoutState has a machine on which no directory for a sandbox's state can be made.
func TestPartialWithoutState(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"", "/proc/nowhere", "/dev/null/x"} {
		s, report := sandbox.Find(t.Context(), sandbox.Options{State: state, Supervisors: supervisors})
		if s == nil || s.Confines() || len(report.Reasons) != 1 {
			t.Fatalf("%q: got %+v", state, report)
		}
		if out, err := run(t, s, sandbox.Spec{Cwd: "/", ReadOnly: true}, plainly, "echo hello"); err != nil || out != "hello\n" {
			t.Errorf("%q: got %q, %v", state, out, err)
		}
	}
}

// TestWhereThereIsNoLandlock has the filter of system calls alone hold commands, and says so.
func TestWhereThereIsNoLandlock(t *testing.T) {
	t.Parallel()
	if place.Here() == "" {
		if out, err := place.Run(t, place.Bare, 1000, "^TestWhereThereIsNoLandlock$"); err != nil || !strings.Contains(out, "--- PASS: TestWhereThereIsNoLandlock") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s, report := sandbox.Find(t.Context(), sandbox.Options{State: t.TempDir() + "/state", Supervisors: supervisors})
	if s == nil || s.Confines() || report.Kind != "seccomp" || !strings.Contains(strings.Join(report.Lost, " "), "no Landlock") {
		t.Fatalf("got %+v", report)
	}
	out, err := run(t, s, sandbox.Spec{Cwd: "/"}, plainly, `python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2>&1 | tail -n 1; grep CapEff /proc/self/status`)
	if err != nil || !strings.Contains(out, "Operation not permitted") || !strings.Contains(out, "0000000000000000") {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestReportOfAPlace says why there is no sandbox, what there is instead, and what is lost.
func TestReportOfAPlace(t *testing.T) {
	if place.Here() == "" {
		return // it is run by TestWhereNoSandboxCanBeMade
	}
	_, report := sandbox.Find(t.Context(), sandbox.Options{State: t.TempDir() + "/state", Supervisors: supervisors})
	t.Log(report, report.Lost)
	text := strings.Join(report.Reasons, "; ")
	if !strings.Contains(text, "cannot make sandboxes here itself") || place.Here() == place.NoUsers && !strings.Contains(text, "user namespaces are off") {
		t.Errorf("the reasons are %q", text)
	}
	if _, warning, err := sandbox.Choose(sandbox.WhenAvailable, report); err != nil || !strings.Contains(warning, "the kernel alone holds them, by landlock ") {
		t.Errorf("%q, %v", warning, err)
	}
	if _, _, err := sandbox.Choose(sandbox.Required, report); err == nil {
		t.Error("it counts as a sandbox")
	}
}
