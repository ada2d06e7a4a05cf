package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// configured makes a repository in a directory, configured as lines of "key value" say.
func configured(t *testing.T, dir string, config ...string) {
	t.Helper()
	gitIn(t, dir, "init", "-q", "-b", "main")
	for _, line := range append(config, "user.name n", "user.email a@b") {
		key, value, _ := strings.Cut(line, " ")
		gitIn(t, dir, "config", key, value)
	}
}

// gitIn runs git as the user does, outside of any sandbox.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "git"), args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestSandboxOfHooks has a command in a sandbox change nothing that git is configured to
// run, also where it is not there yet, and git work as before.
func TestSandboxOfHooks(t *testing.T) {
	t.Parallel()
	const evil = `f=$(printf %s pre-commit); printf '#!/bin/sh\ntouch %s/ran\n' "$PWD" > "$d/$f"; chmod +x "$d/$f"; touch a && git add a && git commit -qm one; git log --format=%s`
	for name, test := range map[string]struct {
		config  []string
		content map[string]string
		dir     string
		made    bool // that the directory is there
	}{
		"there":    {config: []string{"core.hooksPath .githooks"}, dir: ".githooks", made: true},
		"missing":  {config: []string{"core.hooksPath .githooks"}, dir: ".githooks"},
		"deep":     {config: []string{"core.hooksPath tools/git/hooks"}, dir: "tools/git/hooks", made: true},
		"included": {config: []string{"include.path ../dev/config"}, content: map[string]string{"dev/config": "[core]\nhooksPath = hooks\n"}, dir: "hooks", made: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, test.content)
			configured(t, dir, test.config...)
			if test.made {
				must(t, os.MkdirAll(filepath.Join(dir, test.dir), 0o755))
			}
			s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
			got := told(t, s, "d=$(printf %s "+test.dir+"); mkdir -p $d; "+evil)
			if !strings.Contains(got, "one") {
				t.Errorf("git did not commit: %q", got)
			}
			for _, name := range []string{filepath.Join(test.dir, "pre-commit"), "ran"} {
				if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
					t.Errorf("%s was made: %q", name, got)
				}
			}
			for file, want := range test.content {
				told(t, s, "f=$(printf %s "+file+"); echo >> $f x")
				if content, _ := os.ReadFile(filepath.Join(dir, file)); string(content) != want {
					t.Errorf("%s is %q", file, content)
				}
			}
		})
	}
}

// TestSandboxAfterLinks runs commands after one that has put links where git keeps
// repositories of its own.
func TestSandboxAfterLinks(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"links.sh": `m=.git/modules; mkdir -p $m/a && touch $m/a/HEAD && ln -s a $m/b && ln -s /etc .git/worktrees && echo made`,
		"clear.sh": `m=.git/modules; echo x > $m/a/config; rm $m/b && echo gone`,
	})
	configured(t, dir)
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	got := told(t, s, "sh links.sh")
	if !strings.Contains(got, "made") {
		t.Fatalf("got %q", got)
	}
	if got := told(t, s, `f=$(printf %s still); echo $f > $f; cat $f`); !strings.Contains(got, "still") {
		t.Errorf("the next command: %q", got)
	}
	if got := told(t, s, "sh clear.sh"); !strings.Contains(got, "gone") || strings.Contains(got, "tool_use_error") {
		t.Errorf("clearing up: %q", got)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git/modules/a/config")); err == nil {
		t.Error("what lies beside a link is open")
	}
}

// TestSandboxOfSubmodules has a command put no repository of its own where git looks for
// changes in a submodule, and commit in it.
func TestSandboxOfSubmodules(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "basename") // of git submodule
	lib := t.TempDir()
	configured(t, lib)
	gitIn(t, lib, "commit", "-q", "--allow-empty", "-m", "lib")
	dir := files(t, map[string]string{
		"own.sh":    `rm -rf sub/.git; git init -q sub; git -C sub config core.fsmonitor 'touch ran #'; mv sub sub2; echo done`,
		"commit.sh": `git -C sub -c user.name=n -c user.email=a@b commit -q --allow-empty -m more; git -C sub log --format=%s`,
	})
	configured(t, dir)
	gitIn(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "libs/sub")
	must(t, os.Rename(filepath.Join(dir, "own.sh"), filepath.Join(dir, "libs/own.sh")))
	must(t, os.Rename(filepath.Join(dir, "commit.sh"), filepath.Join(dir, "libs/commit.sh")))
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	before, err := os.ReadFile(filepath.Join(dir, "libs/sub/.git"))
	must(t, err)
	if got := told(t, s, "cd libs && sh own.sh"); !strings.Contains(got, "done") {
		t.Errorf("got %q", got)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "libs/sub/.git")); string(after) != string(before) {
		t.Errorf("its .git is %q", after)
	}
	if got := told(t, s, "sh commit.sh"); !strings.Contains(got, "more") {
		t.Errorf("committing in it: %q", got)
	}
}

// TestSandboxOfWritableDirectories closes in directories that settings make writable what
// is closed in the working directory, and no more.
func TestSandboxOfWritableDirectories(t *testing.T) {
	t.Parallel()
	shared := files(t, map[string]string{".env": "SECRET", "deep/.env": "SECRET", "keep.txt": "kept", "deep/x.lock": "locked", "plain.txt": "plain"})
	configured(t, shared)
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = rules("Read(.env) | Edit(*.lock) | Edit(/"+shared+"/keep.txt)", "", "Bash")
		o.Shell.Sandbox.Writable = []string{shared}
	})
	s := session(t, h.Host, host.SessionOptions{Asker: agreeing()})
	for name, open := range map[string]bool{
		".git/hooks/post-checkout": false, ".git/config": false, ".bashrc": false, ".claude/settings.json": false, ".toolquay/settings.toml": false,
		"keep.txt": false, "deep/x.lock": false, "deep/.env": false, "plain.txt": true, "made.txt": true, ".git/made": true,
	} {
		path := filepath.Join(shared, name)
		before, _ := os.ReadFile(path)
		got := told(t, s, "f=$(printf %s "+path+`); mkdir -p "${f%/*}"; echo evil >> $f; cat $f`)
		if strings.Contains(got, "SECRET") {
			t.Errorf("%s was read: %q", name, got)
		}
		after, _ := os.ReadFile(path)
		if changed := string(after) != string(before); changed != open {
			t.Errorf("%s: changed %t: %q", name, changed, got)
		}
	}
}
