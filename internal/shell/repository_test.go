package shell_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// repositories are ways in which a directory p of a session gets to content that it is
// denied: what script makes of it, in which directory the session works, and the rule that
// denies. The repository q lies outside. Both are made by [makeRepositories].
var repositories = []struct{ name, script, cwd, deny string }{
	{"the directory itself", "", "p", "Read(//BASE/p/secrets)"},
	{"a rule of any depth", "", "p", "Read(secrets)"},
	{"a directory in it", "", "p/sub", "Read(//BASE/p/secrets)"},
	{"a directory of the session's in it", "", "p/sub", ""},
	{"a .git file", "rm -rf p/.git && echo 'gitdir: ../q/.git' > p/.git", "p", ""},
	{"a .git file, by its absolute path", "rm -rf p/.git && echo \"gitdir: $PWD/q/.git\" > p/.git", "p/sub", ""},
	{"a .git file that leads to a link", "rm -rf p/.git && ln -s ../q/.git p/g && echo 'gitdir: g' > p/.git", "p", ""},
	{"a link", "rm -rf p/.git && ln -s ../q/.git p/.git", "p", ""},
	{"a link, with a rule on what it leads to", "rm -rf p/.git && ln -s ../q/.git p/.git", ".", "Read(//BASE/q/secrets)"},
	{"commondir in .git", "echo ../../q/.git > p/.git/commondir", "p", ""},
	{"another work tree", "rm -rf p && git -C q worktree add -q ../p", "p", ""},
	{"another work tree, with a rule on the first", "rm -rf p && git -C q worktree add -q ../p", ".", "Read(//BASE/q/secrets)"},
	{"alternates", "echo ../../../q/.git/objects > p/.git/objects/info/alternates", "p", "Read(//BASE/p/secrets)"},
	{"alternates of alternates", "git init -q --bare r && echo $PWD/q/.git/objects > r/objects/info/alternates && echo ../../../r/objects > p/.git/objects/info/alternates", "p", "Read(//BASE/p/secrets)"},
	{"included settings", "git -C p config include.path ../../q/settings && rm -rf p/secrets", "p", "Read(//BASE/p/secrets)"},
	{"settings included by others", "printf '[include]\\npath = q/settings' > more && git -C p config includeIf.gitdir:p/.path ../../more", "p", "Read(//BASE/p/secrets)"},
	{"a repository without a work tree", "rm -rf p && mkdir p && git clone -q --bare q p/x.git", "p", "Read(//BASE/p/x.git)"},
	{"a branch that is a tag of a file", "git -C p tag main lightweight && git -C p tag master lightweight", "p", "Read(//BASE/p/secrets)"},
	{"a HEAD that is one", "echo 'ref: refs/tags/lightweight' > p/.git/HEAD", "p", "Read(//BASE/p/secrets)"},
	{"a file in the place of a commit", "git -C p replace -f $(git -C p rev-parse HEAD) $(git -C p rev-parse HEAD:secrets/x) || :", "p", "Read(//BASE/p/secrets)"},
	{"notes that are the file", "cd p && tree=$(printf '100644 blob %s\\t%s\\n' $(git rev-parse HEAD:secrets/x) $(git rev-parse HEAD) | git mktree) && git update-ref refs/notes/commits $(git commit-tree -m n $tree) && git config notes.displayRef refs/notes/commits", "p", "Read(//BASE/p/secrets)"},
	{"links in .git", "for f in packed-refs shallow info/grafts BISECT_START rebase-merge/git-rebase-todo; do mkdir -p p/.git/rebase-merge && ln -sf $PWD/q/settings p/.git/$f; done", "p", ""},
	{"settings that name files", "for k in blame.ignoreRevsFile mailmap.file core.excludesFile core.attributesFile; do git -C p config $k $PWD/q/settings; done", "p", ""},
	{"a submodule", "git -C p -c protocol.file.allow=always submodule --quiet add $PWD/q mod && mkdir p/mod/mod", "p/mod", "Read(//BASE/p/mod/secrets)"},
}

// makeRepositories makes p and q alike, each with a denied file that has changed, a tag and a
// stash of it, and settings beside q.
const makeRepositories = `
for r in p q; do
  git init -q -b main $r && cd $r && mkdir sub secrets && echo a > a && echo x > sub/x && echo CANARY > secrets/x &&
  git add . && git commit -qm first && echo CANARY 2 > secrets/x && git commit -qam second &&
  git tag lightweight $(git rev-parse HEAD:secrets/x) && echo CANARY 3 > secrets/x && git stash -q && cd .. || exit 1
done
printf '[user]\nname = CANARY\n' > q/settings
`

// What a rule denies, and what lies outside, no form of git prints that nobody is asked
// about, whichever repository it is that git uses, and wherever in it.
func TestGitPrintsNothingDenied(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "bash")
	data, err := os.ReadFile("testdata/repository.txt")
	if err != nil {
		t.Fatal(err)
	}
	every := 3
	if !testenv.Thorough() {
		every = 23
	}
	for i, r := range repositories {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if out, err := inBash(t, base, base, nil, makeRepositories+r.script); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sum, err := inBash(t, base, base, nil, "git -C q rev-parse HEAD:secrets/x")
			if err != nil {
				t.Fatal(err, sum)
			}
			asked, lines := 0, 0
			for line := range strings.Lines(string(data)) {
				if lines++; os.Getenv("TOOLQUAY_READ_RUNS") == "" && (lines+i)%every != 0 {
					continue // the others by turns
				}
				text, guess := strings.CutPrefix(strings.TrimSpace(line), "? ")
				if text == "" || text[0] == '#' {
					continue
				}
				text = strings.ReplaceAll(text, "SUM", strings.TrimSpace(sum))
				for _, sub := range []string{".", "sub", "p", ".git", "x.git", "p/sub"} {
					if info, err := os.Stat(filepath.Join(base, r.cwd, sub)); err != nil || !info.IsDir() {
						continue
					}
					asked += printsNothing(t, base, r.cwd, strings.ReplaceAll(r.deny, "BASE", base[1:]), "cd "+sub+" && "+text, guess)
				}
			}
			if asked < testenv.Sample(20) {
				t.Errorf("only %d commands were asked about", asked)
			}
		})
	}
}

// printsNothing runs a command that nobody is asked about; it returns 1 where somebody is.
func printsNothing(t *testing.T, base, cwd, deny, text string, guess bool) int {
	t.Helper()
	set := permissions.RuleSet{Source: permissions.SourceUser}
	if deny != "" {
		set.Deny = permissions.RuleTexts(deny)
	}
	dir := filepath.Join(base, cwd)
	p, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: dir}, Home: permissions.Dir{Path: filepath.Join(base, "home")}},
		Rules:  []permissions.RuleSet{set}, Resolve: really,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := shell.Analyse(text, shell.Place{
		Cwd: dir, Home: filepath.Join(base, "home"), Working: []string{dir},
		Repository: func(dir string) (permissions.Repository, bool) {
			return p.Repository(dir, os.ReadFile, namesIn, linksIn)
		},
	})
	c.Resolve(really)
	request := permissions.Request{Tool: "Bash", Effects: permissions.EffectsListed, Commands: []permissions.Command{c}, Accesses: c.Accesses()}
	if permissions.Decide(p, request, permissions.Evidence{}).Verdict != permissions.Allow {
		return 1
	}
	out, err := inBash(t, base, dir, shell.Environment(), text)
	said := out
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		said += string(failed.Stderr)
	}
	if strings.Contains(said, "CANARY") || guess && out != "" {
		t.Errorf("with %q in %s, %s prints %q", deny, cwd, text, said)
	}
	return 0
}

// inBash runs a command with settings as [shell.Environment] lists them, and returns its
// standard output.
func inBash(t *testing.T, base, dir string, settings []string, text string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-c", text)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
	for _, setting := range settings {
		if strings.Contains(setting, "=") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	out, err := cmd.Output()
	return string(out), err
}

// really is a path with all links resolved, as far as it exists.
func really(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	if dir := filepath.Dir(name); dir != name {
		return filepath.Join(really(dir), filepath.Base(name))
	}
	return name
}

func linksIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}
