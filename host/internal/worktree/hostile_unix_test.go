//go:build unix

package worktree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/worktree"
	"github.com/toolquay/toolquay/internal/testenv"
)

// programs are keys of git's configuration that name programs, and what is to be before the program.
var programs = []string{
	"core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand",
	"credential.helper", "credential.https://example.com.helper", "gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "gpg.openpgp.program",
	"diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "sequence.editor", "interactive.diffFilter",
	"filter.evil.clean", "filter.evil.smudge", "filter.other.process", "filter.a=b c.smudge", "filter.a=b c.clean",
	"hook.evil.command", "uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.receivepack", "man.viewer", "web.browser", "pager.status", "alias.status", "alias.reset",
}

// hooks are those that git has.
var hooks = strings.Fields("post-checkout post-commit pre-commit post-rewrite reference-transaction post-index-change fsmonitor-watchman pre-auto-gc post-merge update prepare-commit-msg commit-msg pre-rebase sendemail-validate")

// hostile is a repository whose every program leaves a mark.
func hostile(t *testing.T) (dir string, marks func() string) {
	t.Helper()
	dir = repository(t)
	away := t.TempDir()
	mark := filepath.Join(away, "marks")
	program := filepath.Join(away, "program")
	testenv.WriteProgram(t, program, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+mark+"'\ncat\n"))
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=evil diff=evil merge=evil ident\n*.other filter=other\n*.odd \"filter=a=b c\"\n*.late filter=late\n")
	write(t, filepath.Join(dir, "b.other"), "b\n")
	write(t, filepath.Join(dir, "b.odd"), "b\n")
	write(t, filepath.Join(dir, "b.late"), "b\n")
	commit(t, dir, "sub/c.txt", "c\n")
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository(t), "module")
	git(t, dir, "commit", "-q", "-m", "a module")
	for _, key := range programs {
		git(t, dir, "config", key, program)
	}
	for _, hook := range hooks {
		testenv.WriteProgram(t, filepath.Join(dir, ".git", "hooks", hook), []byte("#!/bin/sh\necho \"hook $0\" >> '"+mark+"'\n"))
	}
	for key, value := range map[string]string{
		"filter.evil.required": "true", "commit.gpgSign": "true", "log.showSignature": "true", "submodule.recurse": "true", "protocol.allow": "always",
		"protocol.ext.allow": "always", "remote.origin.url": "ext::" + program, "remote.origin.promisor": "true", "remote.origin.partialclonefilter": "blob:none",
		"extensions.partialClone": "origin", "core.repositoryFormatVersion": "1", "gc.auto": "1", "core.attributesFile": filepath.Join(away, "attributes"),
		"hook.evil.event": "post-checkout", "core.ignoreStat": "true", "status.showUntrackedFiles": "no", "core.hooksPath": filepath.Join(dir, ".git", "hooks"),
		// What holds for no branch but the one to come.
		"includeIf.onbranch:worktree/**.path": filepath.Join(away, "late"),
	} {
		git(t, dir, "config", key, value)
	}
	write(t, filepath.Join(away, "late"), "[filter \"late\"]\n\tsmudge = "+program+"\n\tclean = "+program+"\n")
	write(t, filepath.Join(away, "attributes"), "* filter=evil\n")
	_ = os.Remove(mark) // of setting it up
	return dir, func() string {
		text, _ := os.ReadFile(mark)
		return string(text)
	}
}

// TestHostile makes, looks at and removes a worktree of a repository whose every configured program
// would leave a mark; and has git alone leave some, so that they are there to be left.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir, marks := hostile(t)
	s := store(t)
	tree := enter(t, s, dir, "x")
	for name, want := range map[string]string{"a.txt": "one\n", "b.other": "b\n", "b.odd": "b\n", "b.late": "b\n"} {
		if text, err := os.ReadFile(filepath.Join(tree.Path, name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	if lost, err := tree.Changes(t.Context()); err != nil || !lost.None() {
		t.Errorf("a new one would lose %v, %v", lost, err)
	}
	// What a model could come to write, if it could write anything.
	git(t, dir, "config", "extensions.worktreeConfig", "true")
	program := git(t, dir, "config", "filter.evil.clean")
	write(t, filepath.Join(dir, ".git", "worktrees", "x", "config.worktree"), "[core]\n\tfsmonitor = "+program+"\n\thooksPath = "+dir+"/.git/hooks\n[filter \"mine\"]\n\tclean = "+program+"\n\tprocess = "+program+"\n[status]\n\tshowUntrackedFiles = no\n")
	write(t, filepath.Join(tree.Path, ".gitattributes"), "* filter=mine diff=evil\n")
	write(t, filepath.Join(tree.Path, "a.txt"), "two\n")
	write(t, filepath.Join(tree.Path, "new"), "")
	if lost, err := tree.Changes(t.Context()); err != nil || len(lost.Files) != 3 {
		t.Errorf("it would lose %v, %v", lost, err)
	}
	remove(t, tree)
	if got := marks(); got != "" {
		t.Errorf("programs were started:\n%s", got)
	}
	cmd := exec.Command(testenv.NeedTool(t, "git"), "worktree", "add", "-q", "-b", "worktree/y", filepath.Join(t.TempDir(), "y"))
	cmd.Dir = dir
	_ = cmd.Run() // its filters may fail
	for _, want := range []string{"hook ", "program"} {
		if !strings.Contains(marks(), want) {
			t.Errorf("git alone starts no %s: %q", want, marks())
		}
	}
}

// TestMissingObjects fetches nothing for a clone that lacks objects.
func TestMissingObjects(t *testing.T) {
	t.Parallel()
	dir, marks := hostile(t)
	s := store(t)
	blob := git(t, dir, "rev-parse", "HEAD:a.txt")
	must(t, os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])))
	if _, _, err := s.Make(t.Context(), dir, "x", "s"); err == nil {
		t.Error("a worktree was made of what is not there")
	}
	if got := marks(); got != "" {
		t.Errorf("programs were started:\n%s", got)
	}
	if all, foreign, err := s.All(); len(all)+len(foreign) > 0 || err != nil {
		t.Errorf("it left %q, %q, %v", all, foreign, err)
	}
	if left := git(t, dir, "for-each-ref", "refs/heads/worktree"); left != "" {
		t.Errorf("it left %s", left)
	}
}

// TestFilesStay writes the files of a new worktree there, also where another program has its
// configuration name another place before git writes them.
func TestFilesStay(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	git(t, main, "config", "extensions.worktreeConfig", "true")
	program, err := s.Git()
	must(t, err)
	away := t.TempDir()
	write(t, filepath.Join(away, "a.txt"), "mine\n")
	swapping, config := filepath.Join(t.TempDir(), "git"), filepath.Join(main, ".git", "worktrees", "x", "config.worktree")
	testenv.WriteProgram(t, swapping, []byte("#!/bin/sh\ncase \"$*\" in\n*'reset --hard'*) '"+program+"' config -f '"+config+"' core.worktree '"+away+"' ;;\nesac\nexec '"+program+"' \"$@\"\n"))
	s.Git = func() (string, error) { return swapping, nil }
	tree := enter(t, s, main, "x")
	if got, err := os.ReadFile(filepath.Join(away, "a.txt")); err != nil || string(got) != "mine\n" || !exists(filepath.Join(tree.Path, "a.txt")) {
		t.Errorf("the other place has %q, %v", got, err)
	}
}

// TestCancelled undoes what a call came to that was cancelled.
func TestCancelled(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	for i := range testenv.Sample(40) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*4*time.Millisecond)
		tree, _, err := s.Make(ctx, main, "x", "s")
		cancel()
		if wantNone(t, s, main, tree, err); t.Failed() {
			t.Fatalf("ended after %d: %v", i, err)
		}
	}
}

// wantNone removes the worktree that came to be, if any, and wants nothing to be left of it, nor of one that
// could not be made.
func wantNone(t *testing.T, s *worktree.Store, main string, tree *worktree.Tree, err error) {
	t.Helper()
	if err == nil {
		remove(t, tree)
	} else {
		tree = &worktree.Tree{Record: worktree.Record{Main: main, Path: filepath.Join(s.Dir, "none")}}
	}
	wantGone(t, s, tree)
}

// TestGitKilled kills git while it makes the worktree, at any moment: then git does nothing more in
// the repository until the half is gone.
func TestGitKilled(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	program, err := s.Git()
	must(t, err)
	for i := range testenv.Sample(60) {
		dying := filepath.Join(t.TempDir(), "git")
		testenv.WriteProgram(t, dying, []byte("#!/bin/sh\ncase \"$*\" in\n*'worktree add'*) exec timeout -s KILL 0."+fmt.Sprintf("%04d", 1+i*2)+" '"+program+"' \"$@\" ;;\nesac\nexec '"+program+"' \"$@\"\n"))
		s.Git = func() (string, error) { return dying, nil }
		tree, _, err := s.Make(t.Context(), main, "x", "s")
		if wantNone(t, s, main, tree, err); t.Failed() {
			t.Fatalf("killed after %d: %v", i, err)
		}
	}
}

// TestNoRoom undoes what it came to where there is no room for the files.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	commit(t, main, "large", strings.Repeat("0123456789abcdef", 1<<16))
	program, err := s.Git()
	must(t, err)
	limited := filepath.Join(t.TempDir(), "git")
	// A bound on the size of files is what fails a write as a full disk does.
	testenv.WriteProgram(t, limited, []byte("#!/bin/sh\ntrap '' XFSZ\nulimit -f 100\nexec '"+program+"' \"$@\"\n"))
	s.Git = func() (string, error) { return limited, nil }
	if _, _, err = s.Make(t.Context(), main, "x", "s"); err == nil || !strings.Contains(err.Error(), "there is no room") {
		t.Fatalf("got %v", err)
	}
	wantNone(t, s, main, nil, err)
}

// TestKilled kills the process that makes or removes a worktree before its nth git, and while that
// runs. Another one is made of the name afterwards, and nothing else is touched.
func TestKilled(t *testing.T) {
	if at := os.Getenv("WORKTREE_KILL_AT"); at != "" {
		diesAt(t, at)
		return
	}
	t.Parallel()
	for n := 1; n < 40; n++ {
		if testenv.Sample(10) < 10 && n%4 > 0 {
			continue
		}
		main, s := repository(t), store(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "WORKTREE_KILL_AT="+strconv.Itoa(n), "WORKTREE_MAIN="+main, "WORKTREE_DIR="+s.Dir)
		out, err := cmd.CombinedOutput()
		killed := err != nil && cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		if err != nil && !killed {
			t.Fatalf("%v: %s", err, out)
		}
		all, _, err := s.All()
		must(t, err)
		for _, path := range all {
			left, err := s.Open(path)
			must(t, err)
			if left.State == worktree.Made {
				lost, err := left.Changes(t.Context())
				must(t, err)
				must(t, left.Remove(t.Context(), lost))
				continue
			}
			must(t, left.Release())
		}
		tree := enter(t, s, main, "x") // which takes the place of what is half made or half gone
		if got, err := os.ReadFile(filepath.Join(tree.Path, "a.txt")); err != nil || string(got) != "one\n" {
			t.Errorf("killed at %d: it holds %q, %v", n, got, err)
		}
		remove(t, tree)
		wantGone(t, s, tree)
		if got := git(t, main, "status", "--porcelain"); got != "" {
			t.Errorf("killed at %d: the main worktree has %s", n, got)
		}
		if !killed {
			return // it came to the end
		}
	}
}

// diesAt makes and removes a worktree, and kills its own process in the nth call of git.
func diesAt(t *testing.T, at string) {
	t.Helper()
	n, err := strconv.Atoi(at)
	must(t, err)
	program := testenv.NeedTool(t, "git")
	calls := filepath.Join(t.TempDir(), "calls")
	counting := filepath.Join(t.TempDir(), "git")
	testenv.WriteProgram(t, counting, []byte("#!/bin/sh\necho >> '"+calls+"'\nif test \"$(wc -l < '"+calls+"')\" -eq "+strconv.Itoa(n)+"; then kill -9 $PPID; fi\nexec '"+program+"' \"$@\"\n"))
	s := &worktree.Store{Dir: os.Getenv("WORKTREE_DIR"), Git: func() (string, error) { return counting, nil }}
	tree, _, err := s.Make(t.Context(), os.Getenv("WORKTREE_MAIN"), "x", "s")
	must(t, err)
	lost, err := tree.Changes(t.Context())
	must(t, err)
	must(t, tree.Remove(t.Context(), lost))
}

// TestMany makes a hundred.
func TestMany(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	trees := make([]*worktree.Tree, testenv.Sample(100))
	for i := range trees {
		trees[i] = enter(t, s, main, "x"+strconv.Itoa(i))
	}
	git(t, main, "worktree", "prune", "--expire=now")
	if all, foreign, err := s.All(); len(all) != len(trees) || len(foreign) > 0 || err != nil {
		t.Errorf("there are %d, %q, %v", len(all), foreign, err)
	}
	for _, tree := range trees {
		remove(t, tree)
	}
	wantGone(t, s, trees[0])
}

// TestUnwritable removes directories that nobody may write in, or look into.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	tree := enter(t, s, main, "x")
	write(t, filepath.Join(tree.Path, "shut", "deep", "a"), "")
	git(t, tree.Path, "add", "-A")
	must(t, os.Chmod(filepath.Join(tree.Path, "shut", "deep"), 0o500))
	must(t, os.Chmod(filepath.Join(tree.Path, "shut"), 0o500))
	lost, err := tree.Changes(t.Context())
	must(t, err)
	testenv.BoundByPermissions(t)
	must(t, tree.Remove(t.Context(), lost))
	wantGone(t, s, tree)
}
