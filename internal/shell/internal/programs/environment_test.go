package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestEnvironmentHasReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range slices.Concat(variables, gitSettings) {
		name, _, _ := strings.Cut(s.text, "=")
		if s.why == "" || seen[name] {
			t.Errorf("%s stands twice, or has no reason", name)
		}
		seen[name] = true
	}
}

// environ is what a command runs in: Environment over the test's own.
func environ(home string) []string {
	out := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", // the machine's own settings are no part of the test
		"LESSOPEN=|touch " + home + "/ran.lessopen", "GIT_EXTERNAL_DIFF=touch " + home + "/ran.diff",
	}
	for _, e := range Environment() {
		name, _, set := strings.Cut(e, "=")
		out = slices.DeleteFunc(out, func(o string) bool { return strings.HasPrefix(o, name+"=") })
		if set {
			out = append(out, e)
		}
	}
	return out
}

// hostile are settings that start a program in some read of git.
var hostile = []string{
	"core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.alternateRefsCommand", "core.editor",
	"credential.helper", "diff.external", "gpg.program", "gpg.ssh.program", "gpg.openpgp.program", "gpg.x509.program",
	"diff.evil.textconv", "diff.evil.command", "diff.default.textconv", "diff.default.command",
	"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.odd=na me.clean",
	"pager.log", "pager.diff", "pager.show", "pager.status", "pager.branch", "pager.tag", "pager.stash", "pager.blame",
	"trailer.x.command", "remote.origin.uploadpack", "merge.evil.driver", "alias.status", "alias.log",
	"uploadpack.packObjectsHook", "interactive.diffFilter", "sequence.editor",
}

// hostileRepository makes a repository whose every setting, hook and driver
// leaves a file beside it, and changes for git to show.
func hostileRepository(t *testing.T) (dir string, ran func() []string) {
	t.Helper()
	base := t.TempDir()
	dir = filepath.Join(base, "repo")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
			"GIT_ALLOW_PROTOCOL=file")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		testenv.WriteProgram(t, file, []byte(text))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main", ".")
	write("a.txt", "one\n")
	write("sub/b.txt", "two\n")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	git("init", "-q", "mod")
	write("mod/c.txt", "three\n")
	git("-C", "mod", "add", ".")
	git("-C", "mod", "commit", "-q", "-m", "inner")
	git("add", "mod")
	write("a.txt", "one\nmore\n")
	git("commit", "-q", "-a", "-m", "second")
	signed(t, dir, git)
	git("tag", "v1")
	git("remote", "add", "origin", base)
	write("a.txt", "stashed\n")
	git("stash", "-q")
	write("a.txt", "changed\n")
	write("mod/c.txt", "changed\n")
	write(".gitattributes", "* diff=evil filter=evil merge=evil\n")
	for i, key := range hostile {
		program := filepath.Join(base, fmt.Sprintf("program%d", i))
		text := fmt.Sprintf("#!/bin/sh\necho %q >> '%s/ran.%d'\ncat\n", key, base, i)
		testenv.WriteProgram(t, program, []byte(text))
		value := program
		if strings.HasPrefix(key, "alias.") {
			value = "!" + program
		}
		git("config", key, value)
		if key == "core.fsmonitor" || strings.HasPrefix(key, "filter.") {
			git("-C", "mod", "config", key, value)
		}
	}
	for key, value := range map[string]string{
		"log.showSignature": "true", "status.submoduleSummary": "true", "submodule.recurse": "true", "column.ui": "always",
		"filter.evil.required": "true", "diff.submodule": "diff", "format.pretty": "%G? %h", "diff.ignoreSubmodules": "none",
		"log.diffMerges": "remerge", "pretty.evil": "%G?", "core.hooksPath": filepath.Join(base, "hooks"), "core.untrackedCache": "true",
		"extensions.partialClone": "origin", "remote.origin.promisor": "true", "core.repositoryFormatVersion": "1",
	} {
		git("config", key, value)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman"} {
		write("../hooks/"+hook, "#!/bin/sh\ntouch '"+base+"/ran.hook-"+hook+"'\n")
	}
	ran = func() []string {
		files, _ := filepath.Glob(filepath.Join(base, "ran.*"))
		return files
	}
	forget(t, ran())
	return dir, ran
}

// signed adds a commit with a signature, for log.showSignature to check.
func signed(t *testing.T, dir string, git func(...string)) {
	t.Helper()
	tree := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	commit := fmt.Sprintf("tree %s\nparent %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n"+
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n",
		tree("rev-parse", "HEAD^{tree}"), tree("rev-parse", "HEAD"))
	cmd := exec.Command("git", "hash-object", "-w", "-t", "commit", "--stdin")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(commit)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	git("update-ref", "refs/heads/main", strings.TrimSpace(string(out)))
}

// state is a sum over all names, attributes and contents below a directory.
func state(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, name, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			sum.Write(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// forget removes the traces of programs that ran.
func forget(t *testing.T, files []string) {
	t.Helper()
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
}

// output runs a program, which must end, and returns what it printed. That it
// fails is no matter: some have nothing to show, and say so.
func output(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	out, _ := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s %v does not end", name, args)
	}
	return string(out)
}

// gitReads are examples of git that are read-only.
func gitReads(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range examples(t) {
		if strings.HasPrefix(e.command, "git") && e.verdict == "ro" && e.command != "git" {
			out = append(out, e.command)
		}
	}
	out = append(out,
		"git log -p", "git log -p --stat --all", "git log --stat -m", "git show HEAD:a.txt", "git show v1", "git diff HEAD",
		"git diff a.txt", "git diff HEAD~1 HEAD", "git diff --no-index a.txt sub/b.txt", "git blame a.txt",
		"git annotate a.txt", "git diff-files -p", "git diff-index -p HEAD", "git stash list -p", "git reflog show -p",
		"git cat-file -p HEAD", "git show deadbeefdeadbeefdeadbeefdeadbeefdeadbeef", "git grep more", "git log --graph -c -p",
		"git status --porcelain=v2 --branch", "cd sub && git diff", "git --no-pager log -p",
		"git branch --column", "git branch --list x", "git tag --list --column", "git ls-files -m -o", "git check-attr -a a.txt")
	return out
}

// No program that a repository names runs for a read-only form of git, and
// nothing in it changes.
func TestGitUnderEnvironment(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "bash")
	dir, ran := hostileRepository(t)
	before := state(t, dir)
	for _, command := range testenv.Some(gitReads(t)) {
		for part := range strings.SplitSeq(command, " && ") {
			if f := Judge(split(part)); !f.ReadOnly && !strings.HasPrefix(part, "cd ") {
				t.Errorf("%s is not read-only: %s", command, f.Reason)
			}
		}
		out := output(t, dir, environ(filepath.Dir(dir)), "bash", "--noprofile", "--norc", "-c", command)
		if strings.Contains(out, "unknown option") || strings.Contains(out, "usage:") {
			t.Errorf("%s does not run:\n%.300s", command, out)
		}
		for _, file := range ran() {
			text, _ := os.ReadFile(file)
			t.Errorf("%s ran %s: %s", command, filepath.Base(file), text)
		}
		forget(t, ran())
		if after := state(t, dir); after != before {
			t.Errorf("%s changed the repository", command)
			before = after
		}
	}
}

// The test above means something: without the environment, programs of every
// sort run.
func TestGitWithoutEnvironment(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.NeedTool(t, "git")
	dir, ran := hostileRepository(t)
	for _, args := range []string{
		"status", "diff", "log -p", "log", "show", "blame a.txt", "ls-files -m",
	} {
		output(t, dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir)}, "git", strings.Fields(args)...)
	}
	var names strings.Builder
	for _, file := range ran() {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names.Write(text)
	}
	for _, want := range []string{
		"core.fsmonitor", "diff.evil.textconv", "filter.evil.process", "gpg.openpgp.program",
	} {
		if !strings.Contains(names.String(), want+"\n") {
			t.Errorf("%s starts nothing: the repository is not hostile enough", want)
		}
	}
}

// A repository may name a work tree that it is not in. Read-only forms print none of
// the files that lie there, whatever its index says; those of submodules, whose
// settings name one too, do.
func TestGitStaysInItsWorkTree(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "bash")
	base := t.TempDir()
	elsewhere, dir := filepath.Join(base, "elsewhere"), filepath.Join(base, "repo")
	for _, d := range []string{elsewhere, filepath.Join(dir, "sub")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "key"), []byte("of "+filepath.Base(d)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := environ(base)
	bash := func(command string) string { return output(t, filepath.Join(dir, "sub"), env, "bash", "-c", command) }
	setup := "cd .. && command git init -q && h=$(command git hash-object -w --stdin </dev/null) && " +
		"command git update-index --add --cacheinfo 100644,$h,key --cacheinfo 100644,$h,sub/key --cacheinfo 100644,$h,elsewhere/key"
	if out := bash(setup); out != "" {
		t.Fatal(out)
	}
	for _, c := range []struct{ tree, want string }{
		{"", "+of sub"},
		{dir, "+of sub"}, {"..", "+of sub"}, // as submodules have it
		{elsewhere, "leads elsewhere"}, {base, "leads elsewhere"}, {filepath.Join(dir, "sub"), "leads elsewhere"},
	} {
		if c.tree != "" {
			bash("cd .. && command git config core.worktree '" + c.tree + "'")
		}
		for _, command := range []string{"git diff", "cd .. && git diff", "git --no-pager diff -- :/"} {
			if out := bash(command); !strings.Contains(out, c.want) || strings.Contains(out, "of elsewhere") {
				t.Errorf("with the work tree %q, %q prints %q", c.tree, command, out)
			}
		}
	}
}

// TestEnvironmentLeavesOut holds that variables are left out that run code in programs of
// which there need not be any on this machine.
func TestEnvironmentLeavesOut(t *testing.T) {
	t.Parallel()
	list := Environment()
	for name := range strings.FieldsSeq(`BASH_ENV ENV PS4 PROMPT_COMMAND LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT GIT_DIR GIT_EXEC_PATH
		LESSOPEN LESSCLOSE RIPGREP_CONFIG_PATH NODE_OPTIONS PYTHONSTARTUP PYTHONPATH LUA_INIT MAKEFLAGS MAKEFILES PERL5OPT PERL5LIB
		RUBYOPT TAR_OPTIONS OPENSSL_CONF`) {
		if !slices.Contains(list, name) {
			t.Errorf("%s is kept", name)
		}
	}
}
