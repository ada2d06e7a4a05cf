package shell_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// made is shell text that makes the repository which commands change.
const made = `
set -e
git init -q -b main .
git config user.name A; git config user.email a@example.com
mkdir -p dir/deep empty run
for f in a b c dir/f dir/g dir/deep/h; do echo "one $f" > $f.txt; done
printf 'package p\n\nimport "fmt"\nfunc  F( ) { fmt.Println( 1 )}\n' > p.go
printf 'module example.com/p\n\ngo 1.24\n' > go.mod
printf '//go:generate sh -c "echo package p > gen.go; echo x >> a.txt"\npackage p\n' > g.go
head -c 300000 /dev/urandom > big; : > none
printf 'all: built.txt\nbuilt.txt: a.txt b.txt\n\tcat a.txt b.txt > $@\nclean:\n\trm -f b.txt\nother:\n\techo x > c.txt\n' > Makefile
if type sqlite3 > /dev/null; then sqlite3 data.db 'create table t (x); insert into t values (1)'; fi
printf '#!/bin/sh\necho hello\n' > run/it; chmod 755 run/it; chmod 640 c.txt
ln -s a.txt link; ln -s nowhere dangling
echo odd > "$(printf 'odd \377\n name')"
git add -A; git commit -qm first
git checkout -q -b other; sed -i s/one/other/ a.txt dir/f.txt; git rm -q b.txt; echo new > n.txt; mkdir other; echo x > other/x; git add -A; git commit -qm second
git checkout -q main
tar cf archive.tar -C dir f.txt deep; echo dirty >> c.txt
`

// changers are commands that are undone, and the tools that they need.
var changers = map[string]struct{ text, needs string }{
	"sed -i":            {"sed -i s/one/two/ *.txt dir/*.txt", ""},
	"git commit":        {"echo x >> a.txt && git commit -qam m", "git"},
	"git checkout":      {"git stash -q; git checkout -q other", "git"},
	"git stash":         {"git stash -q", "git"},
	"git reset":         {"git reset -q --hard HEAD && git clean -qfdx", "git"},
	"mv of files":       {"mv a.txt aa.txt; mv b.txt c.txt; mv dir/f.txt f.txt", ""},
	"mv of a directory": {"mv dir moved", ""},
	"mv, then changes":  {"mv dir moved; echo x >> moved/f.txt; rm moved/g.txt; mkdir dir; echo new > dir/f.txt; mv moved/deep dir/; mv moved again", ""},
	"mv, with a link":   {"mv dir moved; ln -s moved dir; echo x >> dir/f.txt; rm dir/g.txt", ""},
	"rm -r":             {"rm -r dir run empty", ""},
	"tar x":             {"tar xf archive.tar && tar xf archive.tar -C empty", "tar"},
	"a rename dance":    {"mkdir .t && cp dir/f.txt .t/f.txt && echo x > .t/n && mv dir .old && mv .t dir && rm -rf .old", ""},
	"saved by renaming": {"for f in a b c; do echo new > .$f.tmp; mv .$f.tmp $f.txt; done", ""},
	"go generate":       {"GOFLAGS=-mod=mod GOCACHE=/tmp/cache go generate ./...", "go"},
	"gofmt -w":          {"gofmt -w *.go", "gofmt"},
	"git apply":         {`printf -- '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one a\n+two\n' | git apply`, "git"},
	"chmod":             {"chmod 600 a.txt; chmod -R g+w dir; chmod 700 empty", ""},
	"ln":                {"ln -sf b.txt link; ln -s a.txt new; ln a.txt hard; echo x >> hard; rm dangling", ""},
	"truncate":          {"truncate -s 3 a.txt big; truncate -s 10 none", ""},
	"dd":                {"dd if=/dev/zero of=big conv=notrunc bs=1 count=5 seek=100 2> /dev/null", ""},
	"mmap":              {`python3 -c 'import mmap; f = open("big", "r+b"); m = mmap.mmap(f.fileno(), 0); m[5:9] = b"here"; m.flush()'`, "python3"},
	"cp -r":             {"cp -r dir copy; cp -a run/it it; cp a.txt b.txt", ""},
	"touch":             {"touch a.txt new none", ""},
	"find -delete":      {"find . -name '*.txt' -delete", ""},
	"a failing command": {"echo x > a.txt; rm b.txt; mkdir m; false", ""},
	"odd names":         {`echo x >> "$(printf 'odd \377\n name')"; echo y > "$(printf 'new \376')"; mv "$(printf 'odd \377\n name')" even`, ""},
	"kinds":             {"rm a.txt; mkdir a.txt; echo x > a.txt/f; rm -r dir; echo x > dir; rm link; echo x > link; rm b.txt; ln -s c.txt b.txt", ""},
	"rm of git":         {"rm -rf .git", ""},
	"descriptors":       {"exec 3<>a.txt; mv a.txt z.txt; echo more >&3; echo x > a.txt; rm z.txt", ""},
	"perl -i":           {`perl -i.bak -pe 's/one/two/' *.txt`, "perl"},
	"awk, saved":        {"for f in *.txt; do awk '{ print NR, $0 }' $f > new && mv new $f; done", ""},
	"patch":             {`printf -- '--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n one a\n+two\n' | patch -b -p0`, "patch"},
	"make":              {"make -s && make -s clean other", "make"},
	"sqlite":            {"sqlite3 data.db 'insert into t values (2); create table u (x); delete from t where x = 1; pragma journal_mode = wal; insert into u values (3)'", "sqlite3"},
	"zip and unzip":     {"zip -qr all.zip dir *.txt && rm -r dir && unzip -qo all.zip", "zip"},
	"git merge":         {"git merge -q other -m merged || git merge --abort; git merge -q -s ours other", "git"},
	"git rebase":        {"git stash -q && git commit -q --allow-empty -m base && git rebase -q main other", "git"},
	"git mv, rm":        {"git mv dir moved && git rm -qrf run && git commit -qm m", "git"},
	"git init":          {"git init -q empty && git -C empty config user.name B && git tag v1 && git gc -q", "git"},
	"git worktree":      {"git worktree add -q wt other && echo x > wt/new", "git"},
	"go mod edit":       {"go mod edit -go=1.25 -module example.com/q -require example.com/r@v1.0.0", "go"},
	"npm":               {"npm init -y > /dev/null && npm pkg set scripts.test=true > /dev/null && npm version --no-git-tag-version minor > /dev/null", "npm"},
	"node":              {`node -e 'const fs = require("fs"); fs.cpSync("dir", "copied", {recursive: true}); fs.rmSync("dir", {recursive: true}); fs.appendFileSync("a.txt", "x"); fs.symlinkSync("a.txt", "s")'`, "node"},
	"cargo":             {"cargo new -q --vcs none made && cargo init -q --vcs none --lib empty", "cargo"},
	"python":            {`python3 -c 'import shutil, os, pathlib; shutil.copytree("dir", "copied"); shutil.rmtree("dir"); shutil.move("run", "copied/run"); os.chmod("big", 0o400); pathlib.Path("a.txt").write_text("x"); os.replace("b.txt", "a.txt")'`, "python3"},
	"background":        {"(for i in 1 2 3 4 5 6 7 8; do echo $i >> dir/f.txt; echo $i > n$i; done) & (for i in 1 2 3 4 5 6 7 8; do echo $i >> dir/g.txt; mv a.txt aa.txt; mv aa.txt a.txt; done) & wait", ""},
	"over read-only":    {"chmod 444 a.txt; chmod 555 dir; mv b.txt a.txt -f; chmod 500 run", ""},
	"exchange":          {`python3 -c 'import ctypes; l = ctypes.CDLL(None); l.syscall(316 if __import__("platform").machine() == "x86_64" else 276, -100, b"dir", -100, b"run", 2)'`, "python3"},
}

// watched returns a session with a history, and a shell whose sandbox reports changes.
func watched(tb testing.TB) (*session, *shell.Capability, *history.Store) {
	tb.Helper()
	s := newSession(tb)
	tb.Cleanup(func() { // else directories without permissions could not be removed
		_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return nil
		})
	})
	s.noTasks = true
	c := newShell(tb, s.sandboxed())
	dir := filepath.Join(filepath.Dir(s.dir), "history")
	if err := os.Mkdir(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	h := history.Open(dir, history.Options{})
	s.history = h
	return s, c, h
}

// TestCommandsAreUndone runs commands that people run, restores the tree, and undoes that.
func TestCommandsAreUndone(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	template := t.TempDir()
	outside(t, template, made)
	for name, test := range changers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.needs != "" {
				testenv.NeedTool(t, test.needs)
			}
			s, c, h := watched(t)
			outside(t, s.dir, "cp -a '"+template+"/.' .")
			before := testenv.Tree(t, s.dir)
			r := s.bash(c, test.text)
			if strings.Contains(r.Note, "history") {
				t.Errorf("it says %s", r.Note)
			}
			after := testenv.Tree(t, s.dir)
			if maps.Equal(before, after) && name != "touch" {
				t.Fatalf("it changed nothing: exit %d, %s", r.Exit, r.out)
			}
			undone, err := h.Restore(t.Context(), history.Selection{Call: "call"}, history.RestoreOptions{})
			if err != nil {
				t.Fatalf("restoring: %v\n%s", err, r.out)
			}
			if d := testenv.TreeDiff(before, testenv.Tree(t, s.dir)); d != "" {
				t.Errorf("restored, the tree is another:\n%s", d)
			}
			call := ""
			for _, one := range undone {
				call = max(call, one.Call)
			}
			if _, err := h.Restore(t.Context(), history.Selection{Call: call}, history.RestoreOptions{}); err != nil {
				t.Fatalf("restoring the restoring: %v", err)
			}
			if d := testenv.TreeDiff(after, testenv.Tree(t, s.dir)); d != "" {
				t.Errorf("with the restoring undone, the tree is another:\n%s", d)
			}
		})
	}
}

// outside runs shell text without a sandbox.
func outside(tb testing.TB, dir, text string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), testenv.NeedTool(tb, "bash"), "-c", text)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir+"/../temp")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, bytes.TrimSpace(out))
	}
}

// TestLargeFilesOfCommands changes files that are too large to be kept. Moved ones are moved back, new ones are removed, and
// if one was changed, the other files are restored without it.
func TestLargeFilesOfCommands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, note, conflict, left string }{
		"moved":         {"mv large dir/; mkdir m; mv dir m/; chmod 600 m/dir/large", "", "", ""},
		"made":          {"cp --sparse=always large other; truncate -s 1T huge; rm small", "", "", ""},
		"changed":       {"echo x >> large; echo x > small", "large (its former content is over 64 MiB)", "what it was is no longer kept", "large"},
		"removed":       {"rm large small", "large (its former content is over 64 MiB)", "what it was is no longer kept", "large"},
		"only opened":   {"exec 3<> large; echo x > small", "", "", ""},
		"moved over":    {"mv small large", "large (its former content is over 64 MiB)", "what it was is no longer kept", "large"},
		"swapped names": {"mv large l; mv dir/f large; mv l dir/f; echo x > small", "", "what it was is no longer kept; and 1 more", "large dir/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, h := watched(t)
			outside(t, s.dir, "mkdir dir; echo f > dir/f; echo small > small; truncate -s 65M large; printf large | dd of=large conv=notrunc bs=1 seek=60000000 2> /dev/null; chmod 640 large")
			before := testenv.Tree(t, s.dir)
			r := s.bash(c, test.text)
			if !strings.Contains(r.Note, test.note) || test.note == "" && strings.Contains(r.Note, "history") {
				t.Errorf("it says %s; want %s", r.Note, test.note)
			}
			all := history.Selection{Call: "call"}
			_, err := h.Restore(t.Context(), all, history.RestoreOptions{})
			if test.conflict != "" {
				if err == nil || !strings.Contains(err.Error(), test.conflict) {
					t.Errorf("restoring: %v; want %s", err, test.conflict)
				}
				if name == "swapped names" { // nor by itself
					_, err = h.Restore(t.Context(), history.Selection{Path: filepath.Join(s.dir, "dir/f")}, history.RestoreOptions{})
					if err == nil {
						t.Error("it is written over")
					}
				}
				_, err = h.Restore(t.Context(), all, history.RestoreOptions{Force: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			after := testenv.Tree(t, s.dir)
			for name := range strings.FieldsSeq(test.left) {
				delete(before, name)
				delete(after, name)
			}
			if text, err := os.ReadFile(filepath.Join(s.dir, "dir/f")); name == "swapped names" && (err != nil || len(text) != 65<<20) {
				t.Errorf("the only copy is gone: %d bytes, %v", len(text), err)
			}
			if d := testenv.TreeDiff(before, after); d != "" {
				t.Errorf("restored, the tree is another:\n%s", d)
			}
		})
	}
}
