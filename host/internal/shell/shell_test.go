package shell_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/powershell"
	analysis "github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

func TestCommandsRunByteForByte(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	for _, command := range []string{
		"", "true", "false", "exit 7", "echo hello", `printf '%s|' 'a  b' "c\"d" $'e\n' f\ g`, "echo one\necho two\n", "\n\n echo x \n",
		"cat <<'E'\n$HOME `x` \\\nE\n", "cat <<E\n${PATH:0:1}\nE", `echo trailing\`, "echo a #b", `echo "$0 $# $- $LINENO"`, "echo \r\n",
		"echo 'ü€𝄞' \u200b", "printf '\\xff\\xfe\\0x'", "set -x; echo traced", "set -e; false; echo not", "trap 'echo bye' EXIT; echo hi",
		"trap 'echo dbg' DEBUG; echo hi", "f() { return 9; }; f", "(exit 5)", "nosuchprogram", "echo ${x:?unset}", "if then", "echo 'open",
		"exec 3>&1; echo x >&3", "kill -TERM $$", "exec sh -c 'kill -9 $$'", "echo $_", "declare -p _", "readonly PWD; echo x", "set -o posix; echo x",
		"shopt -s extglob nullglob; echo *nothing*", "exec true", "cd / && pwd; cd - >/dev/null", "wait; jobs", "exit 300", "builtin() { echo no; }; echo x",
		"printenv; exit", "set -o noclobber; echo x", "exec >&- 2>&-; echo x",
	} {
		cmd := exec.Command("/usr/bin/bash", "-c", command)
		cmd.Dir, cmd.Env = s.dir, append(s.Environment(s.Analyse(command).ReadOnly), "PWD="+s.dir, "TMPDIR="+s.temp)
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "BASH_FUNC_") }) // none is called
		want, err := cmd.CombinedOutput()
		code := cmd.ProcessState.ExitCode()
		if ws := cmd.ProcessState.String(); strings.HasPrefix(ws, "signal: ") {
			code = 137
			if strings.Contains(ws, "terminated") {
				code = 143
			}
		}
		_ = err // the status tells
		got := s.bash(c, command)
		if got.out != strings.ToValidUTF8(string(want), "\uFFFD\uFFFD") || got.Exit != code {
			t.Errorf("%q: got %q and %d; want %q and %d", command, got.out, got.Exit, want, code)
		}
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestArgumentsAreStrict(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	for _, args := range []string{
		`{"command": 1}`, `{"command": "true", "tty": true}`, `{"command": "true"} {}`, `[]`, "{\"command\": \"a\xff\"}",
		`{"command": "a\u0000b"}`, `{"command": "true", "timeout_ms": -1}`, `{"command": "true", "shell": "zsh"}`,
		fmt.Sprintf(`{"command": %q}`, strings.Repeat("x", 128<<10)),
	} {
		_, err := c.Plan(t.Context(), s.scope(), abi.Request{Name: abi.CapShellRun, Args: json.RawMessage(args)})
		if abi.CodeOf(err) != abi.CodeInvalidInput {
			t.Errorf("%.60s: got %v", args, err)
		}
	}
	longest := ": " + strings.Repeat("x", 128<<10-3)
	if r := s.bash(c, longest); r.Exit != 0 {
		t.Errorf("the longest command: got %+v", r)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for _, test := range []struct {
		change func(*shell.Options)
		args   abi.ShellArgs
		says   string
	}{
		{func(o *shell.Options) { o.Mode, o.Missing = "required", "no bubblewrap" }, abi.ShellArgs{Command: "true"}, "no bubblewrap"},
		{func(*shell.Options) { s.noTasks = true }, abi.ShellArgs{Command: "true", Background: true}, "background"},
	} {
		_, err := s.try(t.Context(), newShell(t, test.change), test.args)
		if abi.CodeOf(err) != abi.CodeUnsupported || !strings.Contains(err.Error(), test.says) {
			t.Errorf("got %v; want it to say %q", err, test.says)
		}
	}
	unsandboxed := newShell(t, func(o *shell.Options) { o.Mode = "required" })
	if r := s.run(unsandboxed, abi.ShellArgs{Command: "echo out", Unsandboxed: true}); r.out != "out\n" || r.Sandboxed {
		t.Errorf("outside the sandbox: got %+v", r)
	}
	scope := s.scope()
	scope.Rehearse = true
	p, err := newShell(t).Plan(t.Context(), scope, abi.Request{Args: json.RawMessage(`{"command": "touch rehearsed"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Do(t.Context(), nil); abi.CodeOf(err) != abi.CodeUnsupported {
		t.Errorf("a rehearsal: got %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "rehearsed")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a rehearsal had an effect: %v", err)
	}
}

func TestSleepIsPointedAt(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	s.tools = map[string]bool{"Sleep": true}
	for command, refused := range map[string]bool{
		"sleep 2": true, "sleep 1 1; ls": true, "sleep 1m && ls": true, "/bin/sleep 30": true, "sleep infinity": true, "sleep '5'": true, "sleep 2.5s": true,
		"sleep 1d": true, "sleep 0.01": false, "true; sleep 0": false, "sleep 5 & kill $!": false, "sleep $((0))": false, "echo sleep 5": false, "for i in 1; do sleep 0; done": false,
	} {
		_, err := s.try(t.Context(), c, abi.ShellArgs{Command: command})
		if got := err != nil; got != refused {
			t.Errorf("%q: got %v", command, err)
		}
		if refused && (abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), "Sleep with a duration_ms of")) {
			t.Errorf("%q: got %v", command, err)
		}
	}
}

// TestSleepThatIsTaken holds the guard's proposal to what Sleep takes, in both shells.
func TestSleepThatIsTaken(t *testing.T) {
	t.Parallel()
	powerShell := func(text string) permissions.Command {
		return powershell.Analyse(text, powershell.Place{Cwd: "/"})
	}
	bash := func(text string) permissions.Command { return analysis.Analyse(text, analysis.Place{Cwd: "/"}) }
	for _, c := range []struct {
		analyse func(string) permissions.Command
		command string
		want    int64 // milliseconds; 0 is let through
	}{
		{bash, "sleep 2.5", 2_500}, {bash, "sleep 3600", 3_600_000}, {bash, "sleep 3601", 3_600_000}, {bash, "sleep 1d", 3_600_000},
		{bash, "sleep infinity; ls", 3_600_000}, {bash, "sleep 1", 0}, {bash, "sleep --help", 0}, {bash, "sleep -- 5", 5_000},
		{powerShell, "Start-Sleep 5; ls", 5_000}, {powerShell, "start-sleep -Seconds 5", 5_000}, {powerShell, "Start-Sleep -s 2.5", 2_500},
		{powerShell, "Start-Sleep -Seconds:90", 90_000}, {powerShell, "Start-Sleep -Milliseconds 2500", 2_500}, {powerShell, "Start-Sleep -m 2500", 2_500},
		{powerShell, "sleep 5", 5_000}, {powerShell, "sleep -Seconds 7200", 3_600_000}, {powerShell, "Start-Sleep -Milliseconds 100", 0},
		{powerShell, `Microsoft.PowerShell.Utility\Start-Sleep 9`, 9_000}, {powerShell, "Get-Date; Start-Sleep 5", 0},
		{powerShell, "Start-Sleep -Duration 5", 0}, {powerShell, "Start-Sleep $n", 0}, {powerShell, "Start-Sleep", 0}, {powerShell, "Start-Sleep -Seconds", 0},
	} {
		command := c.analyse(c.command)
		err := shell.OnlyWaits(&command, true)
		if want := fmt.Sprintf("duration_ms of %d", c.want); c.want > 0 && (err == nil || !strings.Contains(err.Error()+" ", want)) || c.want == 0 && err != nil {
			t.Errorf("%q: %v; want %q", c.command, err, want)
		}
	}
	s, c := newSession(t), newShell(t, func(o *shell.Options) { o.PowerShell = "/bin/sh" })
	s.tools = map[string]bool{"Sleep": true}
	if _, err := s.try(t.Context(), c, abi.ShellArgs{Command: "Start-Sleep 5", Shell: abi.ShellPowerShell}); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Errorf("the capability lets it through: %v", err)
	}
}

// TestGitDiffersIsNoFailure has git answer by its status, and fail.
func TestGitDiffersIsNoFailure(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	s, c := newSession(t), newShell(t)
	made := s.bash(c, "echo a >a; echo b >b; echo 'error: c' >c; git -c init.defaultBranch=m init -q . && git add a && git -c user.name=n -c user.email=e commit -qm m && echo c >a")
	if made.Exit != 0 {
		t.Fatalf("%+v", made)
	}
	for _, test := range []struct {
		command, program string
		exit             int
	}{
		{"git diff --exit-code", "git diff", 1},
		{"git diff --quiet", "git diff", 1},
		{"git -C . --no-pager diff --exit-code -- a", "git diff", 1},
		{"timeout 9 git diff --no-index a b", "git diff", 1},
		{"git diff --no-index b c", "git diff", 1},
		{"git diff --no-index a missing", "git", 1},
		{"git diff-index --quiet HEAD", "git diff-index", 1},
		{"git grep nothing", "git grep", 1},
		{"git diff --exit-code HEAD -- b", "", 0},
		{"git diff nosuch", "git diff", 128},
	} {
		if r := s.bash(c, test.command); r.Exit != test.exit || r.Program != test.program {
			t.Errorf("%q: %d of %q; want %d of %q: %s", test.command, r.Exit, r.Program, test.exit, test.program, r.out)
		}
	}
}

func TestEnvironmentIsClean(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	r := s.bash(c, `env; for p in $$ $PPID; do tr '\0' '\n' </proc/$p/environ; done; declare -p; ps eww 2>/dev/null`)
	if strings.Contains(r.out, "4711-marker") {
		t.Errorf("the host's environment shows: %s", r.out)
	}
	if r := s.bash(c, "sh -c :; env | cut -d= -f1 | sort | tr '\\n' ' '"); r.out != "HOME LANG PATH PWD SHLVL TMPDIR _ " {
		t.Errorf("the environment holds %q", r.out)
	}
	if r := s.bash(c, "ls /proc/self/fd"); r.out != "0\n1\n2\n3\n" {
		t.Errorf("the descriptors of ls, with its own, are %q", r.out)
	}
}

func TestNoTerminalAndNothingToRead(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	r := s.bash(c, `wc -c; tty; (: </dev/tty) 2>&1 | grep -c 'No such device'; read x; echo $?; [ "$(ps -o sid= -p $$ | tr -d ' ')" != "$(ps -o sid= -p `+strconv.Itoa(os.Getpid())+` | tr -d ' ')" ] && echo own`)
	if r.out != "0\nnot a tty\n1\n1\nown\n" {
		t.Errorf("got %q", r.out)
	}
}

func TestStatusIsTold(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	for _, test := range []struct {
		command, signal, program string
		exit                     int
	}{
		{"true", "", "", 0},
		{"exit 3", "", "", 3},
		{"grep x /dev/null", "", "grep", 1},
		{"cat /dev/null | grep x", "", "grep", 1},
		{"true && grep x /dev/null", "", "", 1},
		{"false || grep x /dev/null", "", "grep", 1},
		{"echo a; nice -n 1 grep x /dev/null", "", "grep", 1},
		{"set -e; grep x /dev/null", "", "", 1},
		{"! true", "", "", 1},
		{"diff() { false; }; diff a b", "", "", 1},
		{"(cd /; /bin/grep x /dev/null)", "", "grep", 1},
		// The shell's own failures end with 1 as well.
		{"echo $((1/0)); cat /dev/null | grep z", "", "", 1},
		{"echo $((1 + 2 * 3)); cat /dev/null | grep z", "", "grep", 1},
		{"echo $((x)); cat /dev/null | grep z", "", "", 1},
		{"echo $((08)); cat /dev/null | grep z", "", "", 1},
		{"cat /dev/null | grep $((1/0))", "", "", 1},
		{"(echo $((1%0))); grep z /dev/null", "", "", 1},
		{"echo ${!x}; grep z /dev/null", "", "", 1},
		{"echo ${x:1/0}; grep z /dev/null", "", "", 1},
		{"echo ${x?not there}; grep z /dev/null", "", "", 127},
		{"readonly x=1; x=2; grep z /dev/null", "", "", 1},
		{"grep z < nosuch", "", "", 1},
		{"grep z < nosuch 2> /dev/null", "", "", 1},
		{"grep z 2> /dev/null < nosuch", "", "", 1},
		{"{ grep z; } 2>&1 < nosuch", "", "", 1},
		{"{ grep z; } 2> /dev/null < nosuch", "", "", 1},
		{"grep z /dev/null > no/such", "", "", 1},
		{"grep z < /dev/null", "", "grep", 1},
		{"grep z <<< a 2>&1", "", "grep", 1},
		{"echo a > found; grep z < found", "", "grep", 1},
		{"nosuchprogram", "", "nosuchprogram", 127},
		{"kill -KILL $$", "SIGKILL", "", 137},
		{"exec bash -c 'kill -SEGV $$'", "SIGSEGV", "", 139},
	} {
		r := s.bash(c, test.command)
		if r.Exit != test.exit || r.Signal != test.signal || r.Program != test.program {
			t.Errorf("%q: got %d %q %q", test.command, r.Exit, r.Signal, r.Program)
		}
	}
}

// TestOnlyFunctionsThatAreCalledAreGiven looks at what a command that reads has of the
// function that keeps git from running programs.
func TestOnlyFunctionsThatAreCalledAreGiven(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	for command, want := range map[string]bool{
		"type -t git | head -n 1; true":          false,
		"type -t git | head -n 1; git --version": true,
	} {
		if !s.Analyse(command).ReadOnly {
			t.Fatalf("%q: is not read-only: %s", command, s.Analyse(command).Reason)
		}
		if r := s.bash(c, command); strings.HasPrefix(r.out, "function") != want {
			t.Errorf("%q: got %q; want a function: %t", command, r.out, want)
		}
	}
}
