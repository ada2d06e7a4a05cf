package warm_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/warm"
)

// poisons are commands that no judge takes for reading. They run in a shell all the
// same, to see what they could do to the next.
var poisons = map[string]string{
	"path":               "PATH=; export PATH",
	"function":           "ls() { echo bad; }; printf() { :; }; kill() { :; }; export -f ls printf kill",
	"alias":              "shopt -s expand_aliases; alias ls='echo bad' kill=true",
	"builtins off":       "enable -n echo printf kill read cd trap eval exec",
	"options":            "set -f -u -o pipefail; shopt -s extglob nullglob dotglob",
	"error exit":         "set -e; false",
	"no execution":       "set -n",
	"directory":          "cd /; pushd /usr",
	"umask":              "umask 0",
	"closed output":      "exec 1>&-",
	"closed all":         "exec 0<&- 1>&- 2>&-",
	"more descriptors":   "exec 3</etc/passwd 4>&1 9<&1",
	"traps":              "trap 'echo bad' DEBUG ERR EXIT RETURN CHLD",
	"ignored signals":    "trap '' TERM INT HUP CHLD PIPE",
	"read-only":          "readonly PATH HOME OLDPWD PWD IFS BASH_EXECUTION_STRING REPLY",
	"separators":         "IFS=abc; export IFS",
	"hashed":             "hash -p /bin/false ls",
	"environment":        "export LANG=xx BASH_ENV=/etc/passwd POSIXLY_CORRECT=1; unset HOME",
	"positional":         "set -- a b c; shift",
	"limits":             "ulimit -n 4; ulimit -c 0",
	"background":         "sleep 1000 &",
	"orphan":             "(sleep 1000 & exec true) & wait",
	"session":            "setsid -f sleep 1000",
	"stubborn":           "(trap '' TERM HUP INT; setsid sleep 1000 >/dev/null 2>&1) & sleep 0.05",
	"nonblocking output": "python3 -c 'import os; os.set_blocking(1, False); os.set_blocking(2, False)'",
	"holds the output":   "(sleep 0.2; echo late) & exit",
	"many processes":     "for i in {1..50}; do sleep 1000 & done",
	"forks":              "f() { sleep 0.01; f & }; f; f; f; sleep 0.1",
	"kills itself":       "kill -9 $BASHPID",
	"kills the shell":    "kill -9 $$",
	"asks the shell":     "kill -TERM $$; kill -HUP $$; kill -INT $$",
	"kills init":         "kill -9 $PPID; kill -STOP $PPID; kill -TERM 1",
	"kills all":          "kill -9 -1",
	"forged answers":     `for f in /proc/$$/fd/*; do printf '1 0 clean\0' 2>/dev/null >"$f"; done`,
	"forged notes":       `for f in /proc/$$/fd/*; do printf '/etc\0' 2>/dev/null >"$f"; done`,
	"forged later":       `(sleep 0.1; for f in /proc/$$/fd/*; do printf '2 0 clean\0' >"$f"; done) & echo ok`,
	"stolen requests":    `for f in /proc/$$/fd/*; do timeout 0.05 head -c 1 "$f"; done`,
	"small pipe":         "python3 -c 'import fcntl; fcntl.fcntl(1, 1031, 4096)'",
}

// checks show what poisons are after.
var checks = []string{
	"echo a* $- $IFS; ls; pwd; umask; cat a.txt | wc -l; echo err >&2",
	"set -o; shopt; declare -F; alias; trap -p; hash; ulimit -a; dirs; enable -a",
	"declare -p" + known, "env -0; true", "ls /proc/self/fd; true", "grep ^Sig /proc/self/status; true",
	"for n in 0 1 2; do grep flags /proc/self/fdinfo/$n; done | cut -c 8- | grep -c 4", // O_NONBLOCK
}

// TestPoison: after each of these, commands run as if nothing had been, be it in a new
// shell. No process of it is there any more.
func TestPoison(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	want := make(map[string]outcome)
	for _, check := range checks {
		want[check] = oneShot(t, dir, check)
	}
	for name, poison := range poisons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := newPool(t, warm.Options{})
			for range 2 {
				if _, _, err := warmly(t, pool, dir, poison); err != nil && !errors.Is(err, warm.ErrAgain) {
					t.Fatal(err)
				}
				for _, check := range checks {
					got, _, err := warmly(t, pool, dir, check)
					if err != nil || got != want[check] {
						t.Errorf("%s\n got %v, %v\nwant %v", check, got, err, want[check])
					}
				}
				if got, _, err := warmly(t, pool, dir, "ps -e -o comm= | grep -E 'sleep|python|head'"); err != nil || got.Stdout != "" {
					t.Errorf("left over: %v, %v", got, err)
				}
			}
		})
	}
}

// TestLeftProcessesAreKilled: it is told, and their output ends with the call.
func TestLeftProcessesAreKilled(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	for _, name := range []string{"background", "orphan", "session", "stubborn", "holds the output", "many processes"} {
		got, result, err := warmly(t, pool, dir, poisons[name])
		if err != nil || !result.Left || got.Stdout != "" {
			t.Errorf("%s: %v, left %t, %v", name, got, result.Left, err)
		}
	}
}

// TestStopped: a waiting bash that stands still is what a time limit is for.
func TestStopped(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := pool.RunUnfit(ctx, &warm.Request{Env: environment(), Dir: dir, Command: "kill -STOP $$", Stdout: io.Discard})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if got, _, err := warmly(t, pool, dir, "echo next"); err != nil || got.Stdout != "next\n" {
		t.Errorf("%v, %v", got, err)
	}
}
