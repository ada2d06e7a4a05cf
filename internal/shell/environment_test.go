package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// callers are commands, and whether they may call git.
var callers = map[string]bool{
	"git status": true, "ls": false, "echo git": false, "ls; git status": true, "ls | git status": true, "echo $(git status)": true,
	"echo `git status`": true, "if git status; then :; fi": true, "! git status": true, "time git status": true, "(git status)": true,
	"bash -c 'git status'": true, "bash -c 'bash -c \"git status\"'": true, "env git status": true, "nice git status": true, "timeout 9 git status": true,
	"command git status": true, "gi''t status": true, "\\git status": true, "g=git; $g status": true, "${x:-git} status": true, "eval git status": true,
	"for i in 1; do git status; done": true, "git status &\nwait": true, "diff <(git status) /dev/null": true, "x=$(git status)": true,
	"f() { git status; }; f": true, "trap 'git status' EXIT": true, "find . -exec git status ';'": true, "echo x | xargs git": true,
	"cat <<E\n$(git status)\nE": true, "[[ -n $(git status) ]]": true, "((x = $(git status)))": true, "[ git = git ]": false, "cat git": false,
	"gi\\t status": true, "case $(git status) in *) ;; esac": true,
}

// Whatever may call a function of the environment needs it.
func TestNeeds(t *testing.T) {
	t.Parallel()
	at := shell.Place{Cwd: "/w", Home: "/h", Working: []string{"/w"}}
	for text, calls := range callers {
		c := shell.Analyse(text, at)
		if calls && !shell.Calls(&c, "git") || !calls && shell.Calls(&c, "git") {
			t.Errorf("%q calls git: %t", text, !calls)
		}
	}
	plain, unknown := shell.Analyse("ls", at), shell.Analyse("git 'open", at)
	for _, setting := range shell.Environment() {
		function := strings.HasPrefix(setting, "BASH_FUNC_")
		if shell.Needs(&plain, setting) == function {
			t.Errorf("ls needs %.40q: %t", setting, function)
		}
		if !shell.Needs(&unknown, setting) {
			t.Errorf("what is not understood does not need %.40q", setting)
		}
	}
}

// What is said to call no function calls none in bash.
func TestNeedsIsTrue(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	bash := testenv.NeedTool(t, "bash")
	dir := t.TempDir()
	called := 0
	for text := range callers {
		c := shell.Analyse(text, shell.Place{Cwd: dir, Home: dir, Working: []string{dir}})
		cmd := exec.CommandContext(t.Context(), bash, "-c", text)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "BASH_FUNC_git%%=() { echo CALLED >&2; echo CALLED >called; }"}
		_ = cmd.Run() // what it ends with is no matter
		if os.Remove(dir+"/called") != nil {
			continue // it was not called
		}
		if called++; !shell.Calls(&c, "git") {
			t.Errorf("%q calls git", text)
		}
	}
	if called < 20 {
		t.Errorf("only %d of the commands called the function: the test shows little", called)
	}
}
