package warm_test

import (
	"testing"

	"github.com/toolquay/toolquay/host/internal/warm"
)

// known leaves out of a list of variables what [warm.Fit] knows that it differs.
const known = ` | grep -vE '^(declare -[-airx]+ )?(BASHPID|BASH_SUBSHELL|PIPESTATUS|PPID|S?RANDOM|EPOCH(SECONDS|REALTIME)|SECONDS)\b'`

// probes show the state of a shell. A command behind them keeps bash from becoming
// the program that it would run last.
var probes = []string{
	"declare -p" + known, "set" + known, "compgen -v" + known, "declare -F", "declare -f", "compgen -A function",
	"set -o", "shopt", "shopt -o", "trap -p", "trap", "jobs -l", "ulimit -a", "umask", "alias", "hash", "dirs", "enable -a",
	`echo "$-|$0|$#|$*|$_|$?|$!"`, `echo "$BASH_EXECUTION_STRING"`, "echo $LINENO\n\necho $LINENO", "echo $BASH_COMMAND", "caller",
	"declare -p OLDPWD PWD SHLVL BASH_ARGC BASH_ARGV BASH_SOURCE FUNCNAME", "declare -p BASH_REMATCH", "bash -c 'echo $SHLVL'; true",
	"ls /proc/self/fd; true", "ls /proc/$BASHPID/fd; true", "readlink /proc/self/fd/0", "env -0; true", "cat; true", "read x; echo $?",
	"grep -E '^(Umask|Uid|Gid|Groups|Sig|Shd|Cap|NoNew|Seccomp|Speculation|Cpus_allowed_list)' /proc/self/status; true",
	// But for the hard limit of locks, by which the host tells one supervisor's processes from another's.
	`sed 's/^\(Max file locks *[0-9]*\) .*/\1/' /proc/self/limits`, "cat /proc/self/oom_score_adj /proc/self/attr/current; true", "cut -d' ' -f7,18,19 /proc/self/stat; true",
	`for n in 0 1 2; do grep flags /proc/self/fdinfo/$n | sed 's/\b01000*/0/'; done`, // but for O_LARGEFILE, which says nothing
	"break", "continue; echo $?", "return 3", "exit 3", "exec false", "set -e; false; echo no", "set -u; echo ${nope-none}", "set -v\necho a",
	"trap 'echo bye' EXIT", "trap 'echo bye' EXIT; exit 4", "f() { return 7; }; f", "shopt -s expand_aliases; alias x=echo\nx aliased",
	"echo a | cat; echo ${PIPESTATUS[*]}", "wait; echo $?", "false & wait $!", "kill -0 $$ && echo alive", "local x", "[[ aXb =~ X ]]; echo ${BASH_REMATCH[0]}",
}

// TestState holds the state that commands begin in against that of bash -c.
func TestState(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	for _, probe := range probes {
		got, _, err := warmly(t, pool, dir, probe)
		if want := oneShot(t, dir, probe); err != nil || got != want {
			t.Errorf("%s\n got %v, %v\nwant %v", probe, got, err, want)
		}
	}
}

// TestKnownDifferences are the reasons of [warm.Fit]: where one of these is the same
// one day, it may go.
func TestKnownDifferences(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	for _, command := range []string{
		"echo $BASH_SUBSHELL", "echo $((BASHPID - $$))", "echo ${PIPESTATUS[@]}", "env",
		"set -x; true", "set -u; $nope", "echo ${nope:?none}", "exec env",
	} {
		got, _, err := warmly(t, pool, dir, command)
		if want := oneShot(t, dir, command); err != nil || got == want {
			t.Errorf("%s: %v both ways, %v", command, got, err)
		}
		if warm.Fit(command) {
			t.Errorf("%s: fit", command)
		}
	}
}

// TestRandom: children do not repeat each other.
func TestRandom(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	seen := make(map[string]bool)
	for range 20 {
		got, _, err := warmly(t, pool, dir, "echo $RANDOM $RANDOM $RANDOM")
		if err != nil || seen[got.Stdout] {
			t.Errorf("%v, again: %t", err, seen[got.Stdout])
		}
		seen[got.Stdout] = true
	}
}
