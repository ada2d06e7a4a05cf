package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

func kills(o *shell.Options) { o.Time.AtLimit = shell.LimitKill }

func TestTimeIsLimited(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"busy":     "echo begun; read </dev/zero; sleep 100",
		"reading":  "echo begun; echo x | sed ':a;ba'",
		"stubborn": "trap '' TERM; echo begun; sleep 100; sleep 100",
		"session":  "echo begun; (trap '' TERM INT HUP; setsid sleep 100 & sleep 100 & wait)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := newSession(t), newShell(t, kills)
			testenv.InTime(t, 3*time.Second, func() time.Duration {
				var r result
				took := testenv.Took(func() { r = s.run(c, abi.ShellArgs{Command: command, Timeout: 1000}) })
				if !r.TimedOut || r.Timeout != 1000 || r.Exit < 128 || r.Task != "" {
					t.Errorf("got %+v", r)
				}
				if r.out != "begun\n" {
					return testenv.Patience // it had not begun by then
				}
				return took
			})
		})
	}
}

func TestLimitsHaveALimit(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, kills, func(o *shell.Options) { o.Time.Default, o.Time.Max = 200*time.Millisecond, 100*time.Millisecond })
	for _, asked := range []int64{0, 1 << 62} {
		if r := s.run(c, abi.ShellArgs{Command: "exec tail -f /dev/null", Timeout: asked}); !r.TimedOut || r.Timeout != 200 {
			t.Errorf("asked for %d: got %+v", asked, r.ShellOK)
		}
	}
}

func TestCancelledCallsLeaveNothing(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	mine := fmt.Sprintf("%d.25", 100_000+os.Getpid())
	command := "trap '' TERM; (trap '' TERM; setsid sleep " + mine + " &); touch begun; sleep " + mine + " & sleep " + mine
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(s.dir, "begun")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel(abi.Errorf(abi.CodeInterrupted, "the user wrote something"))
	}()
	_, err := s.try(ctx, c, abi.ShellArgs{Command: command})
	if abi.CodeOf(err) != abi.CodeInterrupted {
		t.Errorf("got %v", err)
	}
	if r := s.bash(newShell(t), "ps -eo args | grep -c '^sleep "+mine+"'"); r.out != "0\n" {
		t.Errorf("%s processes are left", strings.TrimSpace(r.out))
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := s.try(ctx, c, abi.ShellArgs{Command: "touch after"}); abi.CodeOf(err) != abi.CodeInterrupted {
		t.Errorf("after the end: got %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "after")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a call that was over ran: %v", err)
	}
}

func TestProgressIsToldFromTwoSecondsOn(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	began := time.Now()
	first := make(chan time.Duration, 1)
	go func() {
		s.awaitReports(1)
		first <- time.Since(began)
		s.awaitReports(2)
		s.signal("go")
	}()
	r := s.bash(c, `echo early; until [ -e go ]; do echo line; sleep 0.05; done; printf 'half\xff'; read -t 1 <> <(:)`)
	took := time.Since(began)
	var told strings.Builder
	for _, p := range s.progress {
		told.WriteString(p.Output)
	}
	const from, every = 2 * time.Second, 250 * time.Millisecond
	if most := 1 + int((took-from)/every); len(s.progress) > most || !strings.HasPrefix(r.out, told.String()) {
		t.Errorf("told %d times in %v, %q", len(s.progress), took, told.String())
	}
	if len(s.progress) == 0 {
		t.Fatal("nothing was told")
	}
	text := s.progress[0].Output
	if at := <-first; at < from || !strings.HasPrefix(text, "early\n") || !strings.HasSuffix(text, "\n") {
		t.Errorf("told after %v, of %q", at, text)
	}
}

// awaitReports waits until there are so many reports.
func (s *session) awaitReports(count int) {
	for end := time.Now().Add(testenv.Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		there := len(s.progress)
		s.mu.Unlock()
		if there >= count {
			return
		}
	}
}

func TestDirectoryIsReported(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	odd := filepath.Join(s.dir, "o'd\"d $x\n`y`")
	if err := errors.Join(os.Mkdir(odd, 0o700), os.Mkdir(filepath.Join(s.dir, "sub"), 0o700), os.Symlink("sub", filepath.Join(s.dir, "link")),
		os.Symlink("/usr", filepath.Join(s.dir, "out"))); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(s.dir, "sub")
	for command, want := range map[string][2]string{
		"true": {}, "cd sub": {sub}, "cd sub; cd ..": {}, "cd link": {sub}, "cd out": {"", "/usr"}, "cd /": {"", "/"}, "cd ..": {"", filepath.Dir(s.dir)},
		"(cd sub)": {}, "cd sub; exit 3": {sub}, "cd sub; false": {sub}, "set -e; cd sub; false; cd /": {sub}, "cd nowhere; true": {}, "cd sub && PWD=/etc": {sub},
		"cd \"o'\"*": {odd}, "mkdir gone; cd gone; rmdir ../gone": {}, "cd() { builtin cd sub; }; cd": {sub}, "trap 'echo dbg' DEBUG; cd sub": {sub}, "set -x; cd sub": {sub},
		"f() { cd sub; }; f; echo >made": {sub}, "eval 'cd sub'; echo >made": {sub}, "echo cd sub >s; . ./s": {sub}, "echo cd sub >s; source s": {sub},
		"echo >made; command cd sub": {sub}, "echo >made; builtin pushd sub": {sub}, "trap 'cd sub' EXIT; echo >made": {}, "trap 'cd sub' USR1; kill -USR1 $$; echo >made": {sub},
		"shopt -s expand_aliases; alias go='cd sub'\neval go >made": {sub}, "echo x >made; mapfile -C 'cd sub; :' -c 1 lines <made": {sub},
		"c=cd; $c sub; echo >made": {sub}, "c\\d sub; echo >made": {sub}, "'c'd sub; echo >made": {sub}, "if true; then { cd sub; }; fi; echo >made": {sub},
		"while cd sub; do break; done; echo >made": {sub}, "echo >made && cd sub || cd /": {sub}, "bash -c 'cd sub'; echo >made": {}, "env -C sub true; echo >made": {},
		"exec bash -c 'cd sub'": {}, "cd sub; kill -9 $$": {}, "set -uo noclobber; cd sub": {sub}, "cd sub; exec >&-": {sub}, "cd sub &": {},
	} {
		if r := s.bash(c, command); r.Cwd != want[0] || r.Refused != want[1] {
			t.Errorf("%q: got %q and %q, want %q", command, r.Cwd, r.Refused, want)
		}
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestDirectoriesWithOddNamesAreHome(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	for _, name := range []string{"it's", "a \"b\" $PATH `id`", "new\nline", "back\\slash", "*"} {
		dir := filepath.Join(filepath.Dir(s.dir), name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(filepath.Join(dir, "sub"), 0o700)); err != nil {
			t.Fatal(err)
		}
		s.dir, s.temp = dir, dir
		if r := s.bash(c, "true"); r.Cwd+r.Refused != "" || r.out != "" {
			t.Errorf("%q: got %+v", name, r)
		}
		if r := s.bash(c, "cd sub"); r.Cwd != filepath.Join(dir, "sub") || r.out != "" {
			t.Errorf("%q: got %+v", name, r)
		}
	}
}

func TestStateIsNotCarriedOver(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	s.bash(c, "export X=1; alias ls=false; f() { :; }; umask 0; set -o noglob; ulimit -n 100; echo $X >made")
	if r := s.bash(c, `echo "[$X]"; type f 2>&1; umask; echo $-; alias; ulimit -n; cat made`); !strings.HasPrefix(r.out, "[]\n") || strings.Contains(r.out, "function") ||
		strings.Contains(r.out, "\n0000\n") || strings.Contains(r.out, "alias") || strings.Contains(r.out, "\n100\n") || !strings.HasSuffix(r.out, "\n1\n") {
		t.Errorf("got %q", r.out)
	}
}

// TestTimesOfCommandsToCome sets another limit for commands that begin later.
func TestTimesOfCommandsToCome(t *testing.T) {
	t.Parallel()
	times := shell.NewTimes(shell.Time{AtLimit: shell.LimitKill})
	c := newShell(t, func(o *shell.Options) { o.Times = times })
	s := newSession(t)
	if r := s.run(c, abi.ShellArgs{Command: "sleep 0.3; echo done"}); r.TimedOut {
		t.Errorf("before: %+v", r.ShellOK)
	}
	times.Set(shell.Time{Default: 100 * time.Millisecond, AtLimit: shell.LimitKill})
	if r := s.run(c, abi.ShellArgs{Command: "sleep 60"}); !r.TimedOut {
		t.Errorf("after: %+v", r.ShellOK)
	}
}
