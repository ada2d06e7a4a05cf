//go:build unix

package gitconfig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/gitconfig"
	"github.com/toolquay/toolquay/internal/testenv"
)

// start is the configuration that commands find.
const start = `# the person's own
[core]
	repositoryformatversion = 0
	bare = false
	hooksPath = .husky
[remote "origin"]
	url = https://example.com/a.git ; where it is
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
[alias]
	st = status
`

// repository is one with a copy of its configuration, which is in its place for the test as a
// mount has it there for commands.
type repository struct {
	tb           testing.TB
	git          string
	top, outside string
	copy         *gitconfig.Copy
}

func newRepository(tb testing.TB) *repository {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	must(tb, err)
	r := &repository{tb: tb, git: testenv.NeedTool(tb, "git"), top: root + "/work", outside: root + "/outside"}
	for _, dir := range []string{r.top, r.outside, root + "/temp"} {
		must(tb, os.Mkdir(dir, 0o755))
	}
	r.run("init", "-q", "-b", "main")
	must(tb, os.WriteFile(r.config(), []byte(start), 0o644))
	must(tb, os.Chmod(r.config(), 0o640))
	r.run("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
	r.copy, err = gitconfig.Take(r.config(), r.top, root+"/temp", nil)
	must(tb, err)
	tb.Cleanup(r.copy.Close)
	return r
}

func (r *repository) config() string { return r.top + "/.git/config" }

func (r *repository) run(args ...string) string {
	r.tb.Helper()
	cmd := exec.Command(r.git, args...)
	cmd.Dir = r.top
	cmd.Env = []string{"HOME=" + r.outside, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.tb.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

// inside runs shell commands with the copy in the place of the configuration.
func (r *repository) inside(command string) {
	r.tb.Helper()
	held := r.config() + ".real"
	must(r.tb, os.Rename(r.config(), held))
	must(r.tb, os.Symlink(r.copy.Private, r.config()))
	cmd := exec.Command("sh", "-ec", command)
	cmd.Dir = r.top
	cmd.Env = []string{"HOME=" + r.outside, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "C=" + r.copy.Private}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.tb.Fatalf("%s: %v: %s", command, err, out)
	}
	if info, err := os.Lstat(r.config()); err != nil || info.Mode()&os.ModeSymlink == 0 {
		r.tb.Fatal("git put a file in the place of the link")
	}
	must(r.tb, os.Rename(held, r.config()))
}

func (r *repository) merge() (gitconfig.Outcome, error) {
	return r.copy.Merge(r.tb.Context(), gitconfig.Options{Git: r.git, Writable: []string{r.top}})
}

func (r *repository) content() string {
	r.tb.Helper()
	text, err := os.ReadFile(r.config())
	must(r.tb, err)
	return string(text)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// TestMerge has git change a configuration as commands do, and takes over key by key.
func TestMerge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command string
		// taken and refused are keys. The file has the lines of has then.
		taken, refused string
		has            []string
	}{
		"nothing":       {command: "git status"},
		"the same":      {command: "git config core.bare false"},
		"an identity":   {command: "git config user.name 'B \"C\" #x;y'; git config user.email b@c", taken: "user.name, user.email", has: []string{`name = "B \"C\" #x;y"`}},
		"a remote":      {command: "git remote add up https://example.com/b.git", taken: "remote.up.url, remote.up.fetch", has: []string{`[remote "up"]`}},
		"by ssh":        {command: "git remote add up git@example.com:b.git", taken: "remote.up.url, remote.up.fetch"},
		"outside":       {command: "git remote add up \"${PWD%/*}/outside/b.git\"", taken: "remote.up.url, remote.up.fetch"},
		"upstream":      {command: "git update-ref refs/remotes/origin/x HEAD; git checkout -q -b x origin/x", taken: "branch.x.remote, branch.x.merge", has: []string{`[branch "x"]`}},
		"of a new one":  {command: "git remote add up https://e.com/b; git update-ref refs/remotes/up/x HEAD; git checkout -q -b x up/x", taken: "remote.up.url, remote.up.fetch, branch.x.remote, branch.x.merge"},
		"another one":   {command: "git update-ref refs/remotes/origin/x HEAD; git branch -q -u origin/x", taken: "branch.main.merge", has: []string{"merge = refs/heads/x"}},
		"a rename":      {command: "git branch -m main trunk", taken: "branch.main.remote, branch.main.merge, branch.trunk.remote, branch.trunk.merge"},
		"deleted":       {command: "git checkout -q --detach; git branch -q -D main", taken: "branch.main.remote, branch.main.merge"},
		"a description": {command: "git config branch.main.description \"$(printf 'a\\nb')\"", taken: "branch.main.description", has: []string{`description = a\nb`}},
		"no value":      {command: "printf '[rerere]\\n enabled\\n' >>$C", taken: "rerere.enabled"},
		"odd names":     {command: "git config 'branch.a \"b\\c.remote' origin", taken: `branch.a "b\c.remote`},

		"an alias":             {command: "git config alias.x '!sh'", refused: "alias.x"},
		"hooks":                {command: "git config core.hooksPath x", refused: "core.hookspath"},
		"no hooks":             {command: "git config --unset core.hooksPath", refused: "core.hookspath"},
		"both":                 {command: "git config core.sshCommand x; git config user.name B", refused: "core.sshcommand", taken: "user.name"},
		"an include":           {command: "git config include.path ../x; git config 'includeIf.gitdir:/.path' x", refused: "include.path, includeif.gitdir:/.path"},
		"pushes elsewhere":     {command: "git remote set-url origin https://evil.example", refused: "remote.origin.url"},
		"the same, for pushes": {command: "git remote set-url --push origin https://evil.example", refused: "remote.origin.pushurl"},
		"by another way":       {command: "git config url.https://evil.example.insteadOf https://example.com", refused: "url.https://evil.example.insteadof"},
		"by a name":            {command: "git config remote.https://example.com/a.git.url https://evil.example", refused: "remote.https://example.com/a.git.url"},
		"to a URL":             {command: "git config branch.main.remote https://evil.example; git config branch.main.pushRemote ../evil", refused: "branch.main.remote, branch.main.pushremote"},
		"to another remote":    {command: "git config branch.main.remote up", refused: "branch.main.remote"},
		"removed and made":     {command: "git remote remove origin; git remote add origin https://evil.example", refused: "remote.origin.url", taken: "branch.main.remote, branch.main.merge"},
		"a program":            {command: "git remote add up 'ext::sh -c x'", refused: "remote.up.url, remote.up.fetch"},
		"options":              {command: "git config remote.up.url -- --upload-pack=x; git config remote.u2.url ssh://-oProxyCommand=x/y; git config remote.u3.url 'x@-oProxyCommand=x:y'", refused: "remote.up.url, remote.u2.url, remote.u3.url"},
		"a remote's program":   {command: "git remote add up https://e.com/b; git config remote.up.uploadpack x; git config remote.origin.receivepack x", refused: "remote.up.url, remote.up.fetch, remote.up.uploadpack, remote.origin.receivepack"},
		"a repository of its":  {command: "git remote add a ./b.git; git remote add b file://$PWD/b.git; git remote add c '~/b'; ln -s $PWD ../outside/l; git remote add d \"${PWD%/*}/outside/l/b\"; git remote add e ../outside/b", refused: "remote.a.url, remote.a.fetch, remote.b.url, remote.b.fetch, remote.c.url, remote.c.fetch, remote.d.url, remote.d.fetch, remote.e.url, remote.e.fetch"},
		"its own branches":     {command: "git config --add remote.origin.fetch '+refs/heads/*:refs/heads/*'; git config remote.u.fetch '+refs/heads/*:refs/remotes/origin/*'", refused: "remote.origin.fetch, remote.u.fetch"},
		"a submodule's":        {command: "git config submodule.a.update '!x'; git config submodule.../a.active true", refused: "submodule.a.update, submodule.../a.active"},
		"a value of two lines": {command: "git config user.name \"$(printf 'a\\n[core]\\nfsmonitor=x')\"", refused: "user.name"},
		"in an old spelling":   {command: "printf '[REMOTE.Origin]\\n URL = https://evil.example\\n[CORE]\\r\\n\\tSSHCommand = x\\r\\n' >>$C", refused: "remote.origin.url, core.sshcommand"},
		"behind a backslash":   {command: "printf '[user]\\n name = a\\\\\\n\\n[alias]\\n x = y\\n' >>$C", taken: "user.name", refused: "alias.x"},
		"a name of its own":    {command: "git config core.unknown x; git config x.y z; git config color.x.y.z red", refused: "core.unknown, x.y", taken: "color.x.y.z"},
		"everything":           {command: "rm $C; git config user.name B", refused: "core.repositoryformatversion, core.bare, core.hookspath, remote.origin.url, remote.origin.fetch, alias.st", taken: "branch.main.remote, branch.main.merge, user.name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.inside(test.command)
			got, err := r.merge()
			must(t, err)
			if listed(got.Taken) != listed(strings.Split(test.taken, ", ")) || listed(got.Refused) != listed(strings.Split(test.refused, ", ")) {
				t.Errorf("taken are %q, refused %q", got.Taken, got.Refused)
			}
			if len(got.Kept) > 0 || (got.Note("config") != "") != (test.refused != "") {
				t.Errorf("kept are %q, and told is %q", got.Kept, got.Note("config"))
			}
			content := r.content()
			for _, want := range test.has {
				if !strings.Contains(content, want) {
					t.Errorf("%q is missing in\n%s", want, content)
				}
			}
			if len(got.Taken) == 0 && content != start {
				t.Errorf("nothing was taken, and there is\n%s", content)
			}
			if !strings.HasPrefix(content, "# the person's own\n[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = .husky\n") || !strings.Contains(content, "; where it is") {
				t.Errorf("something else was changed:\n%s", content)
			}
			info, err := os.Stat(r.config())
			must(t, err)
			if left, _ := filepath.Glob(r.top + "/.git/config?*"); len(left) > 0 || info.Mode().Perm() != 0o640 {
				t.Errorf("left are %q, the mode is %v", left, info.Mode())
			}
			r.run("config", "--list")
		})
	}
}

func listed(keys []string) string { return strings.Join(slices.Sorted(slices.Values(keys)), ", ") }

// TestMergeOfWhatWasChangedMeanwhile keeps what others changed, and waits for their lock.
func TestMergeOfWhatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.inside("git config user.name B; git config pull.ff only; git config merge.ff false; git config push.default simple")
	r.run("config", "user.name", "C")
	r.run("config", "pull.ff", "only")
	r.run("config", "alias.y", "log")
	must(t, os.WriteFile(r.config()+".lock", nil, 0o600))
	time.AfterFunc(100*time.Millisecond, func() { _ = os.Remove(r.config() + ".lock") })
	got, err := r.merge()
	must(t, err)
	if !slices.Equal(got.Kept, []string{"user.name"}) || !slices.Equal(got.Taken, []string{"merge.ff", "push.default"}) || len(got.Refused) > 0 {
		t.Errorf("got %+v", got)
	}
	if list := r.run("config", "--list"); !strings.Contains(list, "user.name=C") || !strings.Contains(list, "alias.y=log") || !strings.Contains(list, "merge.ff=false") {
		t.Errorf("there is\n%s", list)
	}
	if note := got.Note("config"); !strings.Contains(note, "Somebody else changed user.name") {
		t.Errorf("told is %q", note)
	}
}

// TestMergeFails changes nothing then.
func TestMergeFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(r *repository)
		want string
	}{
		"no configuration": {func(r *repository) { r.inside("echo '[' >$C") }, "bad config"},
		"a link":           {func(r *repository) { r.inside("ln -sf /etc/hostname $C") }, "no plain file"},
		"a FIFO":           {func(r *repository) { r.inside("rm $C; mkfifo $C") }, "no plain file"},
		"too large":        {func(r *repository) { r.inside("head -c 300000 /dev/zero >$C") }, "no plain file"},
		"too many":         {func(r *repository) { r.inside("for i in $(seq 300); do echo \"[color] a$i=x\"; done >>$C") }, "over 200"},
		"locked": {func(r *repository) {
			r.inside("git config user.name B")
			must(r.tb, os.Symlink(r.outside+"/x", r.config()+".lock"))
		}, "holds its lock"},
		"a link in its place": {func(r *repository) {
			r.inside("git config user.name B")
			must(r.tb, os.Rename(r.config(), r.outside+"/config"))
			must(r.tb, os.Symlink(r.outside+"/config", r.config()))
		}, "no plain file"},
		"gone": {func(r *repository) {
			r.inside("git config user.name B")
			must(r.tb, os.Rename(r.config(), r.outside+"/config"))
		}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			test.do(r)
			got, err := r.merge()
			if err == nil || !strings.Contains(err.Error(), test.want) || len(got.Taken) > 0 {
				t.Errorf("got %+v, %v", got, err)
			}
			for _, file := range []string{r.config(), r.outside + "/config"} {
				if text, err := os.ReadFile(file); err == nil && string(text) != start {
					t.Errorf("there is\n%s", text)
				}
			}
		})
	}
}

// TestMergeTwice takes over what a command changed while it ran, and then the rest.
func TestMergeTwice(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.inside("git config submodule.a.active true; git config alias.x y")
	first, err := r.merge()
	must(t, err)
	r.inside("git config submodule.a.url https://example.com/a.git")
	second, err := r.merge()
	must(t, err)
	if !slices.Equal(first.Taken, []string{"submodule.a.active"}) || !slices.Equal(first.Refused, []string{"alias.x"}) {
		t.Errorf("first: %+v", first)
	}
	if !slices.Equal(second.Taken, []string{"submodule.a.url"}) || len(second.Refused) > 0 {
		t.Errorf("then: %+v", second)
	}
}

// TestMergeAtOnce takes over what several commands changed at the same time.
func TestMergeAtOnce(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	var all sync.WaitGroup
	for _, name := range []string{"user.name", "user.email", "pull.ff", "merge.ff", "rebase.autostash"} {
		c, err := gitconfig.Take(r.config(), r.top, t.TempDir(), nil)
		must(t, err)
		t.Cleanup(c.Close)
		r.run("config", "--file", c.Private, name, "true")
		all.Go(func() {
			if got, err := c.Merge(t.Context(), gitconfig.Options{Git: r.git, Writable: []string{r.top}}); err != nil || len(got.Taken) != 1 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if list := r.run("config", "--list"); strings.Count(list, "=true") != 5 {
		t.Errorf("there is\n%s", list)
	}
}

// TestTakeRefuses what is no plain file where it is said to be.
func TestTakeRefuses(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(root+"/top/.git", 0o755))
	must(t, os.MkdirAll(root+"/other", 0o755))
	must(t, os.WriteFile(root+"/other/config", []byte("[core]\n"), 0o644))
	must(t, os.Symlink(root+"/other/config", root+"/top/.git/config"))
	must(t, os.Symlink("../other", root+"/top/link"))
	must(t, syscall.Mkfifo(root+"/top/config", 0o600))
	for _, path := range []string{"/top/.git/config", "/top/link/config", "/top/config", "/other/config", "/top/none/config"} {
		if c, err := gitconfig.Take(root+path, root+"/top", root, nil); err == nil {
			t.Errorf("%s was copied to %s", path, c.Private)
		}
	}
	if left, _ := filepath.Glob(root + "/git-*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// TestCopiesLieInTheSamePlace gives commands that follow each other copies of the same path, and
// those that run at the same time, or beside what a command left at such names, others.
func TestCopiesLieInTheSamePlace(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	temp := filepath.Dir(filepath.Dir(r.copy.Private))
	must(t, os.Symlink(r.outside, temp+"/git-2"))
	must(t, os.Mkdir(temp+"/git-3", 0o700))
	take := func() *gitconfig.Copy {
		t.Helper()
		c, err := gitconfig.Take(r.top+"/.git/description", r.top, temp, nil)
		must(t, err)
		t.Cleanup(c.Close)
		return c
	}
	first := take()
	beside := take()
	first.Close()
	second := take()
	if first.Private != second.Private || beside.Private == first.Private || filepath.Dir(beside.Private) != temp+"/git-4" {
		t.Errorf("copies lie at %s, %s and %s", first.Private, beside.Private, second.Private)
	}
	seen := map[string]bool{second.Private: true, beside.Private: true}
	for range 70 { // more than there are names for
		c := take()
		if seen[c.Private] {
			t.Fatalf("%s is used twice", c.Private)
		}
		seen[c.Private] = true
	}
	if entries, err := os.ReadDir(r.outside); err != nil || len(entries) > 0 {
		t.Errorf("a link of a command's was followed: %v, %v", entries, err)
	}
}
