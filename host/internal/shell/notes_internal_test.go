package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestLeavesJobs(t *testing.T) {
	t.Parallel()
	for text, leaves := range map[string]bool{
		"sleep 9 &": true, "make & make test": true, "(sleep 9 &)": true, "f() { sleep 9 & }; f": true, "if true; then sleep 9 & fi": true,
		"sleep 9": false, "a && b": false, "a 2>&1": false, "a &> b": false, "echo '&'": false, "echo x # &": false, "sleep 9 & wait": false,
		"sleep 9 & wait $!": false, "a & b; wait": false, "sleep 9 & echo 'wait": false, "echo \\&": false,
	} {
		command := shell.Analyse(text, shell.Place{Cwd: "/w", Working: []string{"/w"}})
		if got := leavesJobs(&command); got != leaves {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestMakesRepository(t *testing.T) {
	t.Parallel()
	for text, makes := range map[string]bool{
		"git init": true, "git init sub": true, "git clone x .": true, "git -C sub init": true, "/usr/bin/git init": true, "cd sub && git init -q": true,
		"timeout 9 git clone x": true, "bash -c 'git init'": true,
		"git status": false, "git commit -m 'init'": false, "echo git init": false, "npm init": false, "git $x": false, "git config init.defaultBranch x": false,
	} {
		command := shell.Analyse(text, shell.Place{Cwd: "/w", Working: []string{"/w"}})
		if got := makesRepository(&command); got != makes {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestBeginning follows a link in a session's directory only to one of its directories.
func TestBeginning(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, link := filepath.Join(root, "work"), filepath.Join(root, "work", "link")
	for _, dir := range []string{"work/sub", "out"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held := &confinement{SandboxPolicy: capability.SandboxPolicy{Working: []string{work}}}
	for leads, code := range map[string]abi.Code{"sub": "", "../out": abi.CodeDenied, "..": abi.CodeDenied} {
		if err := errors.Join(os.RemoveAll(link), os.Symlink(leads, link)); err != nil {
			t.Fatal(err)
		}
		lies, err := held.beginning(link)
		if code != "" {
			if err == nil || abi.CodeOf(err) != code {
				t.Errorf("%s: got %q, %v", leads, lies, err)
			}
		} else if want := filepath.Join(work, leads); lies != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", leads, lies, err, want)
		}
	}
	if lies, err := held.beginning(filepath.Join(work, "gone")); err != nil || lies != filepath.Join(work, "gone") {
		t.Errorf("a directory that is gone: got %q, %v", lies, err)
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, text := filepath.Join(dir, "program"), filepath.Join(dir, "text")
	for path, mode := range map[string]os.FileMode{program: 0o700, text: 0o600} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho 5.2.37\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{abi.ShellBash, abi.ShellPowerShell} {
		if got, err := Look(name, program); got != program || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		for _, given := range []string{text, dir, filepath.Join(dir, "nosuch"), "./program", "nosuchprogram"} {
			if got, err := Look(name, given); abi.CodeOf(err) != abi.CodeUnsupported {
				t.Errorf("%s as %q: got %q, %v", name, given, got, err)
			}
		}
	}
	// What is judged as bash's is run by nothing else, and not by a bash that is told to be sh.
	bash, err := Look(abi.ShellBash, "")
	if err != nil {
		testenv.Missing(t, err.Error())
	}
	if err := os.Symlink(bash, filepath.Join(dir, "sh")); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{filepath.Join(dir, "sh"), "/bin/dash", "/bin/cat", "/bin/true"} {
		if _, err := os.Stat(other); err != nil {
			continue
		}
		if _, err := Look(abi.ShellBash, other); abi.CodeOf(err) != abi.CodeUnsupported || !strings.Contains(err.Error(), "is another shell") {
			t.Errorf("%s: %v", other, err)
		}
	}
	if got, err := Look(abi.ShellBash, bash); got != bash || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := Look(abi.ShellBash, ""); err == nil && filepath.Base(got) != "bash" {
		t.Errorf("got %q", got)
	}
}
