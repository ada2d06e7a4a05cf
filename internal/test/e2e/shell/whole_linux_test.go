//go:build amd64 || arm64

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// bothWays runs a test with a sandbox and without.
func bothWays(t *testing.T, do func(t *testing.T, changes ...func(*setup))) {
	t.Helper()
	t.Parallel()
	t.Run("confined", func(t *testing.T) {
		t.Parallel()
		do(t)
	})
	t.Run("unconfined", func(t *testing.T) {
		t.Parallel()
		do(t, unconfined)
	})
}

// state is what a shell could have from an earlier one.
const state = `env | grep -v ^_= | sort; declare -F; declare -f; alias; set -o; shopt; ulimit -a; umask; trap -p DEBUG ERR; dirs; type -a ls cat
ls /proc/self/fd | wc -l; (echo sub; ls /dev/null); bash -c 'type f; ls /dev/null' 2>&1`

// poison is what a command can do to the next one's shell, in itself and in files.
// It writes nowhere but to the session's directory and the home, which are the test's.
const poison = `
for file in .bashrc .bash_profile .bash_login .profile .bash_logout .inputrc bashrc env libc.so.6; do
	for dir in . ~; do echo 'echo POISONED; f() { echo POISONED; }; ls() { echo POISONED; }' > "$dir/$file"; done
done
for program in ls cat bash env type dirname; do printf '#!/bin/sh\necho POISONED\n' > $program; chmod +x $program; done
printf 'int main;' > evil.so
f() { echo POISONED; }; ls() { echo POISONED; }; export -f f ls; alias cat='echo POISONED'
export PATH="$PWD:$PATH" BASH_ENV="$PWD/.bashrc" ENV="$PWD/.bashrc" PROMPT_COMMAND='echo POISONED' PS4='POISONED'
export LD_PRELOAD="$PWD/evil.so" LD_LIBRARY_PATH="$PWD" BASHOPTS SHELLOPTS CDPATH=/ IFS=x X=POISONED HOME="$PWD"
set -o noglob -o nounset; shopt -s extglob expand_aliases; umask 0; ulimit -n 60; trap 'echo POISONED' EXIT DEBUG ERR
exec 7>poisoned 2>&1; hash -p "$PWD/cat" cat; pushd / >/dev/null; popd >/dev/null; enable -n echo
`

// proxyPort is that of the proxy in a command's environment: each command has another one.
var proxyPort = regexp.MustCompile(`(127\.0\.0\.1:|proxyPort=)\d+`)

// portless is an output without the ports of proxies.
func portless(output string) string { return proxyPort.ReplaceAllString(output, "$1") }

// TestNothingIsCarriedOver poisons everything that a shell starts from.
func TestNothingIsCarriedOver(t *testing.T) {
	bothWays(t, func(t *testing.T, changes ...func(*setup)) {
		t.Helper()
		d := newDesk(t, changes...)
		d.put("seen.txt", "")
		before := d.unseen(state)
		if !strings.Contains(before.output(), "/dev/null") {
			t.Fatalf("%s", before.Text())
		}
		for _, how := range []string{poison, poison + "kill -9 $$"} {
			if a := d.unseen(how); !a.ran() || !d.has("libc.so.6") {
				t.Fatalf("it was not poisoned: %s", a.Text())
			}
			if after := d.unseen(state); portless(after.output()) != portless(before.output()) {
				t.Errorf("before:\n%s\nafter:\n%s", before.output(), after.Text())
			}
			for range 3 {
				d.says("seen.txt\n", "ls -d seen.txt")
			}
		}
	})
}

// TestSecretsOfTheHost looks for the host's environment wherever a command can.
func TestSecretsOfTheHost(t *testing.T) {
	look := map[string][]string{
		"confined":   {"env", `cat /proc/[0-9]*/environ`, `tr '\0' '\n' < /proc/1/environ`, `grep -rs ` + secretName + ` /proc/*/environ /proc/*/cmdline /tmp`},
		"unconfined": {"env", `tr '\0' '\n' < /proc/self/environ`, `tr '\0' '\n' < /proc/$PPID/environ`, `bash -c 'tr "\0" "\n" < /proc/$PPID/environ'`},
	}
	bothWays(t, func(t *testing.T, changes ...func(*setup)) {
		t.Helper()
		d := newDesk(t, changes...)
		for _, command := range look[filepath.Base(t.Name())] {
			if a := d.unseen(command); !a.ran() || strings.Contains(a.output(), secretValue) {
				t.Errorf("%s: %s", command, a.Text())
			}
		}
	})
	if os.Getenv(secretName) != secretValue {
		t.Error("there is no secret")
	}
}

// TestDirectoryStaysInside has commands end elsewhere.
func TestDirectoryStaysInside(t *testing.T) {
	bothWays(t, func(t *testing.T, changes ...func(*setup)) {
		t.Helper()
		d := newDesk(t, changes...)
		outside := folder(t)
		d.put("sub/deep/file", "")
		for _, link := range []string{"out", "sub/out"} {
			if err := os.Symlink(outside, d.path(link)); err != nil {
				t.Fatal(err)
			}
		}
		report := `r=$(trap -p EXIT | grep -o "[^' ]*cwd-[A-Z0-9]*" | tail -n 1); trap - EXIT; `
		for _, command := range []string{
			"cd ..", "cd /", "cd /usr", "cd out", "cd sub/../out", "cd -P out", "cd sub/out", "cd ~", "pushd / >/dev/null",
			"eval 'cd /'", "mkdir gone; cd gone; rmdir ../gone", "mkdir gone; cd gone; mv ../gone ~/gone.$$ || cd ..",
			`exec bash -c 'cd /'`, "cd /; kill -9 $$", "cd() { builtin cd /; }; cd x", "PWD=/",
			report + `printf '\0/etc' > "$r"`, report + `printf '\0%s' "$PWD/out" > "$r"`, report + `printf '\0../..' > "$r"`,
			report + `ln -s /etc/hostname "$r"`, report + `ln -s /dev/zero "$r"`, report + `mkfifo "$r"`, report + `mkdir "$r"`,
			report + `{ printf '\0/'; head -c 100000 /dev/zero | tr '\0' a; } > "$r"`, report + `printf '\0%s\n' "$PWD/sub" > "$r"`,
		} {
			if a := d.unseen(command); !a.ran() {
				t.Errorf("%s: %s", command, a.Text())
			}
			if got := d.session.Cwd(); got != d.dir {
				t.Fatalf("%s: the session is in %s", command, got)
			}
			d.says(d.dir+"\n", "pwd -P; :")
		}
		d.bash("cd sub/deep")
		d.says(d.path("sub/deep")+"\n", "pwd; :")
	})
}

// TestDirectoryIsTakenAway takes the session's directory away under it, and puts
// something else in its place.
func TestDirectoryIsTakenAway(t *testing.T) {
	bothWays(t, func(t *testing.T, changes ...func(*setup)) {
		t.Helper()
		outside := folder(t)
		d := newDesk(t, changes...)
		d.put("sub/deep/file", "")
		d.bash("cd sub/deep")
		for name, command := range map[string]string{
			"removed": "(cd ../..; rm -r sub/deep)", "renamed": "(cd ../..; mv sub/deep sub/shallow)",
			"a link": "(cd ../..; rm -rf sub/deep; ln -s " + outside + " sub/deep)",
			"above":  "(cd ../..; rm -rf sub; mkdir sub; ln -s " + outside + " sub/deep)",
			"a file": "(cd ../..; rm -rf sub; mkdir sub; : > sub/deep)",
		} {

			d.unseen("cd " + d.dir + "; rm -rf sub; mkdir -p sub/deep; cd sub/deep")
			if got := d.session.Cwd(); got != d.path("sub/deep") {
				t.Fatalf("%s: the session is in %s", name, got)
			}
			if a := d.unseen(command); !a.ran() {
				t.Errorf("%s: %s", name, a.Text())
			}
			for _, a := range []answer{d.bash("touch made; pwd -P"), d.bash("pwd -P"), d.unseen("touch made; pwd -P")} {
				if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 || a.ran() && a.output() == outside+"\n" {
					t.Errorf("%s: a command ran outside: %s", name, a.Text())
				}
			}
			// The way back is to have the directory again.
			if err := os.RemoveAll(d.path("sub")); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(d.session.Cwd(), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestReadDeniesAreMasks reads what rules hide by every program that there is no
// judgement of.
func TestReadDeniesAreMasks(t *testing.T) {
	t.Parallel()
	python := "/usr/bin/python3" // others may lie where only root gets
	if _, err := os.Stat(python); err != nil {
		testenv.Missing(t, err.Error())
	}
	d := newDesk(t, ruled(permissions.RuleSet{Deny: permissions.RuleTexts("Read(./.env)", "Read(**/*.pem)", "Read(~/vault/**)")}))
	for _, path := range []string{".env", "keys/deep/a.pem", "../vault/key", "../.ssh/id_ed25519", "../.netrc", "../.aws/credentials"} {
		d.put(path, secretValue)
	}
	d.put("seen", "what may be seen\n")
	d.says("what may be seen\n", python+` -c 'print(open("seen").read(), end="")'`)
	for _, command := range []string{
		python + ` -c 'print(open(".env").read())'`, python + ` -c 'import os; print(open(os.path.expanduser("~/.ssh/id_ed25519")).read())'`,
		`f=.en; cat ${f}v`, `cat .e*`, `cat .[e]nv`, `. ./.env`, `grep -r . .`, `grep -rs . ~`, `find . -type f -exec cat {} +`, `tar cf - . | cat`,
		`cp .env copy; cat copy`, `ln .env hard; cat hard`, `ln -s .env soft; cat soft`, `cat keys/*/*`, `cat ~/vault/*`, `cat < .env`, `mapfile -t x < .env; echo "${x[@]}"`,
		`git diff --no-index /dev/null .env`, `find ~ -name id_ed25519 -exec cat {} ';'`, `bash -c 'cat ../.netrc'`, `eval 'cat ../.aws/credentials'`,
	} {
		for _, a := range []answer{d.bash(command), d.unseen(command)} {
			if strings.Contains(a.Text(), secretValue) {
				t.Errorf("%s: %s", command, a.Text())
			}
		}
	}
}

// TestMasksFollowFiles has hidden files come into being, and be written anew, between
// calls.
func TestMasksFollowFiles(t *testing.T) {
	t.Parallel()
	person := &person{says: host.AnswerAllow} // who lets everything be searched but what a rule denies
	d := newDesk(t, person.asked, ruled(permissions.RuleSet{Deny: permissions.RuleTexts("Read(./.env)", "Read(./secrets/**)")}))
	search := func(when string) {
		t.Helper()
		for range 3 {
			if a := d.bash("grep -rs . ."); !a.ran() || strings.Contains(a.Text(), secretValue) {
				t.Errorf("%s: %s", when, a.Text())
			}
		}
	}
	d.put("seen", "what may be seen\n")
	search("at first")
	d.put(".env", secretValue)
	d.put("secrets/key", secretValue)
	search("made")
	d.put("new", secretValue)
	if err := os.Rename(d.path("new"), d.path(".env")); err != nil {
		t.Fatal(err)
	}
	search("written by renaming")
	if err := os.Remove(d.path(".env")); err != nil {
		t.Fatal(err)
	}
	d.put(".env", secretValue)
	search("removed and made again")
	if err := errors.Join(os.Rename(d.path("secrets"), d.path("was")), os.RemoveAll(d.path("was"))); err != nil {
		t.Fatal(err)
	}
	d.put("secrets/other", secretValue)
	search("a folder in its place")
}

// leave is a call's input that asks to leave the sandbox.
var leave = input{"dangerouslyDisableSandbox": true}

// TestLeavingTheSandboxIsJudged asks for it where every command is allowed.
func TestLeavingTheSandboxIsJudged(t *testing.T) {
	t.Parallel()
	outside := folder(t)
	touch := "eval 'touch " + outside + "/made'"
	made := func() bool {
		_, err := os.Stat(outside + "/made")
		return err == nil
	}
	d := newDesk(t)
	d.refused("sandbox", d.bash(touch, leave))
	d.refused("", d.bash("touch "+outside+"/made; "+touch, input{"DangerouslyDisableSandbox": true}))
	if a := d.bash(touch); !a.Sandboxed || made() {
		t.Errorf("%s", a.Text())
	}
	person := &person{}
	d = newDesk(t, person.asked)
	d.refused("", d.bash(touch, leave))
	if person.questions != 1 || made() {
		t.Errorf("%d questions", person.questions)
	}
	person.says = host.AnswerAllow
	if a := d.bash(touch, leave); a.Sandboxed || !made() {
		t.Errorf("%s", a.Text())
	}
	d = newDesk(t, person.asked, ruled(permissions.RuleSet{Deny: permissions.RuleTexts("Bash(touch *)")}))
	d.refused("", d.bash("touch "+outside+"/again", leave))
}

// person answers all questions the same way.
type person struct {
	says      host.Answer
	questions int
}

func (*person) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (p *person) Ask(context.Context, host.Question) (host.Reply, error) {
	p.questions++
	if p.says == "" {
		return host.Reply{Answer: host.AnswerDeny}, nil
	}
	return host.Reply{Answer: p.says}, nil
}

func (p *person) asked(s *setup) { s.session.Asker = p }

// TestAnotherToolsCommands has a tool that is not Bash run commands that its input does not
// name as such: they are judged when it asks.
func TestAnotherToolsCommands(t *testing.T) {
	t.Parallel()
	runner := host.NativeTool{
		Contract: abi.Tool{
			Name: "Runner", Description: "Runs something.", InputSchema: `{"type":"object"}`,
		},
		Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			var in struct{ Args json.RawMessage }
			if err := json.Unmarshal(c.Input, &in); err != nil {
				return abi.ToolResult{}, err
			}
			answer, err := c.Do(ctx, abi.Request{Name: abi.CapShellRun, Args: in.Args})
			if err != nil {
				return abi.ToolResult{}, err
			}
			if answer.Body != nil {
				defer answer.Body.Close()
			}
			text, err := json.Marshal(answer.OK)
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock(string(text))}}, err
		},
	}
	d := newDesk(t, func(s *setup) { s.host.Tools = []host.NativeTool{runner} },
		ruled(permissions.RuleSet{Allow: permissions.RuleTexts("Runner"), Deny: permissions.RuleTexts("Bash(touch forbidden)")}))
	run := func(args abi.ShellArgs) answer {
		return d.call(t.Context(), "Runner", input{"Args": args})
	}
	if a := run(abi.ShellArgs{Command: "touch made"}); a.IsError || !d.has("made") || !strings.Contains(a.Text(), `"sandboxed":true`) {
		t.Errorf("%s", a.Text())
	}
	for args, why := range map[abi.ShellArgs]string{
		{Command: "touch wrong", Unsandboxed: true}:          "outside the sandbox",
		{Command: "touch wrong", Shell: abi.ShellPowerShell}: "", // there may be none
		{Command: "touch wrong", Shell: "zsh"}:               "zsh",
		{Command: "touch forbidden"}:                         "touch forbidden",
	} {
		if a := run(args); !a.IsError || !strings.Contains(a.Text(), why) || d.has("wrong") || d.has("forbidden") {
			t.Errorf("%+v: %s", args, a.Text())
		}
	}
}

// TestStagedSessionsChangeNothing checks that commands see what others of their session wrote, and that the disk does
// not change.
func TestStagedSessionsChangeNothing(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Overlay)
	sessions := folder(t)
	d := newDesk(t, func(s *setup) {
		s.host.Storage.Sessions = sessions
		s.session.Stage = true
	})
	d.says("written\n", "echo written >made; cat made")
	d.says("written\n", "cat made; rm made")
	if d.has("made") {
		t.Error("it is on the disk")
	}
	d.refused("stage", d.bash("touch made", leave))
}
